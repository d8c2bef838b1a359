SELECT
  "t2"."id",
  "t2"."fairpatch_ratio",
  CASE
    WHEN (CAST("t2"."p" AS DOUBLE PRECISION) >= CAST(0.0 AS DOUBLE PRECISION))
    AND (CAST("t2"."p" AS DOUBLE PRECISION) <= CAST(1.0 AS DOUBLE PRECISION))
    THEN CASE
      WHEN (CAST("t2"."p" AS DOUBLE PRECISION) = CAST(0.5 AS DOUBLE PRECISION))
      AND (
        "t2"."fairpatch_decision" <> (CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.5 AS DOUBLE PRECISION))
      )
      THEN CAST(0.500000001 AS DOUBLE PRECISION)
      ELSE CAST(CAST(1.0 AS DOUBLE PRECISION) AS DOUBLE PRECISION) / (
        EXP(
          CASE
            WHEN (
              (
                "t2"."fairpatch_ratio" * (
                  CASE
                    WHEN (
                      CAST((
                        CAST(1.0 AS DOUBLE PRECISION) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                          THEN CAST(1e-06 AS DOUBLE PRECISION)
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                          THEN CAST(0.999999 AS DOUBLE PRECISION)
                          ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                        END
                      ) AS DOUBLE PRECISION) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                        THEN CAST(1e-06 AS DOUBLE PRECISION)
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                        THEN CAST(0.999999 AS DOUBLE PRECISION)
                        ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                      END
                    ) < 0
                    THEN CAST('NaN' AS DOUBLE PRECISION)
                    WHEN (
                      CAST((
                        CAST(1.0 AS DOUBLE PRECISION) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                          THEN CAST(1e-06 AS DOUBLE PRECISION)
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                          THEN CAST(0.999999 AS DOUBLE PRECISION)
                          ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                        END
                      ) AS DOUBLE PRECISION) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                        THEN CAST(1e-06 AS DOUBLE PRECISION)
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                        THEN CAST(0.999999 AS DOUBLE PRECISION)
                        ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                      END
                    ) = 0
                    THEN -CAST('Inf' AS DOUBLE PRECISION)
                    ELSE CAST(LOG(
                      CAST(CAST(2.718281828459045 AS DOUBLE PRECISION) AS DECIMAL),
                      CAST(CAST((
                        CAST(1.0 AS DOUBLE PRECISION) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                          THEN CAST(1e-06 AS DOUBLE PRECISION)
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                          THEN CAST(0.999999 AS DOUBLE PRECISION)
                          ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                        END
                      ) AS DOUBLE PRECISION) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                        THEN CAST(1e-06 AS DOUBLE PRECISION)
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                        THEN CAST(0.999999 AS DOUBLE PRECISION)
                        ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                      END AS DECIMAL)
                    ) AS DOUBLE PRECISION)
                  END - CAST(0.0 AS DOUBLE PRECISION)
                )
              ) + CAST(0.0 AS DOUBLE PRECISION)
            ) < -CAST(600.0 AS DOUBLE PRECISION)
            THEN -CAST(600.0 AS DOUBLE PRECISION)
            WHEN (
              (
                "t2"."fairpatch_ratio" * (
                  CASE
                    WHEN (
                      CAST((
                        CAST(1.0 AS DOUBLE PRECISION) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                          THEN CAST(1e-06 AS DOUBLE PRECISION)
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                          THEN CAST(0.999999 AS DOUBLE PRECISION)
                          ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                        END
                      ) AS DOUBLE PRECISION) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                        THEN CAST(1e-06 AS DOUBLE PRECISION)
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                        THEN CAST(0.999999 AS DOUBLE PRECISION)
                        ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                      END
                    ) < 0
                    THEN CAST('NaN' AS DOUBLE PRECISION)
                    WHEN (
                      CAST((
                        CAST(1.0 AS DOUBLE PRECISION) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                          THEN CAST(1e-06 AS DOUBLE PRECISION)
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                          THEN CAST(0.999999 AS DOUBLE PRECISION)
                          ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                        END
                      ) AS DOUBLE PRECISION) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                        THEN CAST(1e-06 AS DOUBLE PRECISION)
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                        THEN CAST(0.999999 AS DOUBLE PRECISION)
                        ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                      END
                    ) = 0
                    THEN -CAST('Inf' AS DOUBLE PRECISION)
                    ELSE CAST(LOG(
                      CAST(CAST(2.718281828459045 AS DOUBLE PRECISION) AS DECIMAL),
                      CAST(CAST((
                        CAST(1.0 AS DOUBLE PRECISION) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                          THEN CAST(1e-06 AS DOUBLE PRECISION)
                          WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                          THEN CAST(0.999999 AS DOUBLE PRECISION)
                          ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                        END
                      ) AS DOUBLE PRECISION) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                        THEN CAST(1e-06 AS DOUBLE PRECISION)
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                        THEN CAST(0.999999 AS DOUBLE PRECISION)
                        ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                      END AS DECIMAL)
                    ) AS DOUBLE PRECISION)
                  END - CAST(0.0 AS DOUBLE PRECISION)
                )
              ) + CAST(0.0 AS DOUBLE PRECISION)
            ) > CAST(600.0 AS DOUBLE PRECISION)
            THEN CAST(600.0 AS DOUBLE PRECISION)
            ELSE (
              "t2"."fairpatch_ratio" * (
                CASE
                  WHEN (
                    CAST((
                      CAST(1.0 AS DOUBLE PRECISION) - CASE
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                        THEN CAST(1e-06 AS DOUBLE PRECISION)
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                        THEN CAST(0.999999 AS DOUBLE PRECISION)
                        ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                      END
                    ) AS DOUBLE PRECISION) / CASE
                      WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                      THEN CAST(1e-06 AS DOUBLE PRECISION)
                      WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                      THEN CAST(0.999999 AS DOUBLE PRECISION)
                      ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                    END
                  ) < 0
                  THEN CAST('NaN' AS DOUBLE PRECISION)
                  WHEN (
                    CAST((
                      CAST(1.0 AS DOUBLE PRECISION) - CASE
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                        THEN CAST(1e-06 AS DOUBLE PRECISION)
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                        THEN CAST(0.999999 AS DOUBLE PRECISION)
                        ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                      END
                    ) AS DOUBLE PRECISION) / CASE
                      WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                      THEN CAST(1e-06 AS DOUBLE PRECISION)
                      WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                      THEN CAST(0.999999 AS DOUBLE PRECISION)
                      ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                    END
                  ) = 0
                  THEN -CAST('Inf' AS DOUBLE PRECISION)
                  ELSE CAST(LOG(
                    CAST(CAST(2.718281828459045 AS DOUBLE PRECISION) AS DECIMAL),
                    CAST(CAST((
                      CAST(1.0 AS DOUBLE PRECISION) - CASE
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                        THEN CAST(1e-06 AS DOUBLE PRECISION)
                        WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                        THEN CAST(0.999999 AS DOUBLE PRECISION)
                        ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                      END
                    ) AS DOUBLE PRECISION) / CASE
                      WHEN CAST("t2"."p" AS DOUBLE PRECISION) < CAST(1e-06 AS DOUBLE PRECISION)
                      THEN CAST(1e-06 AS DOUBLE PRECISION)
                      WHEN CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.999999 AS DOUBLE PRECISION)
                      THEN CAST(0.999999 AS DOUBLE PRECISION)
                      ELSE CAST("t2"."p" AS DOUBLE PRECISION)
                    END AS DECIMAL)
                  ) AS DOUBLE PRECISION)
                END - CAST(0.0 AS DOUBLE PRECISION)
              )
            ) + CAST(0.0 AS DOUBLE PRECISION)
          END
        ) + CAST(1.0 AS DOUBLE PRECISION)
      )
    END
    ELSE NULL
  END AS "fairpatch_score",
  "t2"."fairpatch_decision",
  CASE
    WHEN NOT ("t2"."fairpatch_decision" IS NULL)
    THEN "t2"."fairpatch_decision" <> (CAST("t2"."p" AS DOUBLE PRECISION) > CAST(0.5 AS DOUBLE PRECISION))
    ELSE NULL
  END AS "fairpatch_changed"
FROM (
  SELECT
    "t1"."id",
    "t1"."income",
    "t1"."job",
    "t1"."p",
    "t1"."fairpatch_ratio",
    CASE
      WHEN (CAST("t1"."p" AS DOUBLE PRECISION) >= CAST(0.0 AS DOUBLE PRECISION))
      AND (CAST("t1"."p" AS DOUBLE PRECISION) <= CAST(1.0 AS DOUBLE PRECISION))
      THEN (CAST("t1"."p" AS DOUBLE PRECISION) > CAST(0.5 AS DOUBLE PRECISION)) <> (
        (
          (CAST("t1"."p" AS DOUBLE PRECISION) > CAST(0.5 AS DOUBLE PRECISION))
          AND ("t1"."fairpatch_ratio" <= CAST(0.0 AS DOUBLE PRECISION))
        )
        OR (
          NOT (CAST("t1"."p" AS DOUBLE PRECISION) > CAST(0.5 AS DOUBLE PRECISION))
          AND ("t1"."fairpatch_ratio" < CAST(0.0 AS DOUBLE PRECISION))
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
      (
        (
          CAST(0.2 AS DOUBLE PRECISION) + COALESCE(
            CASE
              WHEN NOT (ABS(CAST("t0"."income" AS DOUBLE PRECISION)) <= CAST(1e+100 AS DOUBLE PRECISION))
              THEN CAST(0.3 AS DOUBLE PRECISION)
              WHEN ABS(CAST("t0"."income" AS DOUBLE PRECISION)) < CAST(1e-100 AS DOUBLE PRECISION)
              THEN CAST(0.0 AS DOUBLE PRECISION)
              ELSE CAST("t0"."income" AS DOUBLE PRECISION) * -CAST(0.7 AS DOUBLE PRECISION)
            END,
            CAST(0.3 AS DOUBLE PRECISION)
          ) + CASE
            WHEN "t0"."job" = 'o''hara'
            THEN -CAST(1.5 AS DOUBLE PRECISION)
            WHEN "t0"."job" = 'q"q'
            THEN CAST(0.5 AS DOUBLE PRECISION)
            WHEN "t0"."job" = '\'
            THEN -CAST(2.0 AS DOUBLE PRECISION)
            WHEN ("t0"."job" IS NULL) OR ("t0"."job" = '')
            THEN -CAST(0.4 AS DOUBLE PRECISION)
            ELSE CAST(0.1 AS DOUBLE PRECISION)
          END
        ) * CAST(1.0 AS DOUBLE PRECISION)
      ) + CAST(1.0 AS DOUBLE PRECISION) AS "fairpatch_ratio"
    FROM "people" AS "t0"
  ) AS "t1"
) AS "t2"
