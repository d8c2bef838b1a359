SELECT
  "t2"."id",
  "t2"."fairpatch_ratio",
  "t2"."fairpatch_score",
  "t2"."fairpatch_decision",
  "t2"."fairpatch_decision" <> (
    "t2"."p" > CAST(0.5 AS DOUBLE)
  ) AS "fairpatch_changed"
FROM (
  SELECT
    "t1"."id",
    "t1"."income",
    "t1"."job",
    "t1"."p",
    "t1"."fairpatch_ratio",
    CASE
      WHEN NOT (
        "t1"."p" IS NULL
      )
      AND (
        "t1"."p" >= CAST(0.0 AS DOUBLE)
      )
      AND (
        "t1"."p" <= CAST(1.0 AS DOUBLE)
      )
      THEN CAST(1.0 AS DOUBLE) / (
        (
          POWER(
            (
              CAST((
                CAST(1.0 AS DOUBLE) - CASE
                  WHEN CASE
                    WHEN "t1"."p" < CAST(1e-06 AS DOUBLE)
                    THEN CAST(1e-06 AS DOUBLE)
                    ELSE "t1"."p"
                  END > CAST(0.999999 AS DOUBLE)
                  THEN CAST(0.999999 AS DOUBLE)
                  ELSE CASE
                    WHEN "t1"."p" < CAST(1e-06 AS DOUBLE)
                    THEN CAST(1e-06 AS DOUBLE)
                    ELSE "t1"."p"
                  END
                END
              ) AS DOUBLE) / CASE
                WHEN CASE
                  WHEN "t1"."p" < CAST(1e-06 AS DOUBLE)
                  THEN CAST(1e-06 AS DOUBLE)
                  ELSE "t1"."p"
                END > CAST(0.999999 AS DOUBLE)
                THEN CAST(0.999999 AS DOUBLE)
                ELSE CASE
                  WHEN "t1"."p" < CAST(1e-06 AS DOUBLE)
                  THEN CAST(1e-06 AS DOUBLE)
                  ELSE "t1"."p"
                END
              END
            ),
            "t1"."fairpatch_ratio"
          )
        ) + CAST(1.0 AS DOUBLE)
      )
      ELSE NULL
    END AS "fairpatch_score",
    CASE
      WHEN NOT (
        "t1"."p" IS NULL
      )
      AND (
        "t1"."p" >= CAST(0.0 AS DOUBLE)
      )
      AND (
        "t1"."p" <= CAST(1.0 AS DOUBLE)
      )
      THEN (
        (
          "t1"."p" > CAST(0.5 AS DOUBLE)
        ) AND (
          "t1"."fairpatch_ratio" > 0
        )
      )
      OR (
        (
          "t1"."p" < CAST(0.5 AS DOUBLE)
        ) AND (
          "t1"."fairpatch_ratio" < 0
        )
      )
      ELSE NULL
    END AS "fairpatch_decision"
  FROM (
    SELECT
      "t0"."id",
      "t0"."income",
      "t0"."job",
      "t0"."p",
      CAST(1.2 AS DOUBLE) + CASE
        WHEN (
          "t0"."income" IS NULL
        )
        OR NOT (
          "t0"."income" <= CAST(1.7976931348623157e+308 AS DOUBLE)
        )
        THEN CAST(0.3 AS DOUBLE)
        ELSE "t0"."income" * CAST(-0.7 AS DOUBLE)
      END + CASE
        WHEN "t0"."job" IS NULL
        THEN CAST(-0.4 AS DOUBLE)
        ELSE CASE
          WHEN "t0"."job" = '\'
          THEN CAST(-2.0 AS DOUBLE)
          ELSE CASE
            WHEN "t0"."job" = 'q"q'
            THEN CAST(0.5 AS DOUBLE)
            ELSE CASE
              WHEN "t0"."job" = 'o''hara'
              THEN CAST(-1.5 AS DOUBLE)
              ELSE CAST(0.1 AS DOUBLE)
            END
          END
        END
      END AS "fairpatch_ratio"
    FROM "people" AS "t0"
  ) AS "t1"
) AS "t2"
