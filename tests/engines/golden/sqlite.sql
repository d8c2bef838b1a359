SELECT
  "t2"."id",
  "t2"."fairpatch_ratio",
  CASE
    WHEN (CAST("t2"."p" AS REAL) >= CAST(0.0 AS REAL))
    AND (CAST("t2"."p" AS REAL) <= CAST(1.0 AS REAL))
    THEN CASE
      WHEN (CAST("t2"."p" AS REAL) = CAST(0.5 AS REAL))
      AND ("t2"."fairpatch_decision" <> (CAST("t2"."p" AS REAL) > CAST(0.5 AS REAL)))
      THEN CAST(0.500000001 AS REAL)
      ELSE CAST(CAST(1.0 AS REAL) AS REAL) / (
        EXP(
          CASE
            WHEN (
              (
                "t2"."fairpatch_ratio" * (
                  CASE
                    WHEN (
                      CAST((
                        CAST(1.0 AS REAL) - CASE
                          WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                          THEN CAST(1e-06 AS REAL)
                          WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                          THEN CAST(0.999999 AS REAL)
                          ELSE CAST("t2"."p" AS REAL)
                        END
                      ) AS REAL) / CASE
                        WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                        THEN CAST(1e-06 AS REAL)
                        WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                        THEN CAST(0.999999 AS REAL)
                        ELSE CAST("t2"."p" AS REAL)
                      END
                    ) < 0
                    THEN NULL
                    WHEN (
                      CAST((
                        CAST(1.0 AS REAL) - CASE
                          WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                          THEN CAST(1e-06 AS REAL)
                          WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                          THEN CAST(0.999999 AS REAL)
                          ELSE CAST("t2"."p" AS REAL)
                        END
                      ) AS REAL) / CASE
                        WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                        THEN CAST(1e-06 AS REAL)
                        WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                        THEN CAST(0.999999 AS REAL)
                        ELSE CAST("t2"."p" AS REAL)
                      END
                    ) = 0
                    THEN -CAST(1E+999 AS REAL)
                    ELSE LOG(
                      CAST(2.718281828459045 AS REAL),
                      CAST((
                        CAST(1.0 AS REAL) - CASE
                          WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                          THEN CAST(1e-06 AS REAL)
                          WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                          THEN CAST(0.999999 AS REAL)
                          ELSE CAST("t2"."p" AS REAL)
                        END
                      ) AS REAL) / CASE
                        WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                        THEN CAST(1e-06 AS REAL)
                        WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                        THEN CAST(0.999999 AS REAL)
                        ELSE CAST("t2"."p" AS REAL)
                      END
                    )
                  END - CAST(0.0 AS REAL)
                )
              ) + CAST(0.0 AS REAL)
            ) < -CAST(600.0 AS REAL)
            THEN -CAST(600.0 AS REAL)
            WHEN (
              (
                "t2"."fairpatch_ratio" * (
                  CASE
                    WHEN (
                      CAST((
                        CAST(1.0 AS REAL) - CASE
                          WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                          THEN CAST(1e-06 AS REAL)
                          WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                          THEN CAST(0.999999 AS REAL)
                          ELSE CAST("t2"."p" AS REAL)
                        END
                      ) AS REAL) / CASE
                        WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                        THEN CAST(1e-06 AS REAL)
                        WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                        THEN CAST(0.999999 AS REAL)
                        ELSE CAST("t2"."p" AS REAL)
                      END
                    ) < 0
                    THEN NULL
                    WHEN (
                      CAST((
                        CAST(1.0 AS REAL) - CASE
                          WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                          THEN CAST(1e-06 AS REAL)
                          WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                          THEN CAST(0.999999 AS REAL)
                          ELSE CAST("t2"."p" AS REAL)
                        END
                      ) AS REAL) / CASE
                        WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                        THEN CAST(1e-06 AS REAL)
                        WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                        THEN CAST(0.999999 AS REAL)
                        ELSE CAST("t2"."p" AS REAL)
                      END
                    ) = 0
                    THEN -CAST(1E+999 AS REAL)
                    ELSE LOG(
                      CAST(2.718281828459045 AS REAL),
                      CAST((
                        CAST(1.0 AS REAL) - CASE
                          WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                          THEN CAST(1e-06 AS REAL)
                          WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                          THEN CAST(0.999999 AS REAL)
                          ELSE CAST("t2"."p" AS REAL)
                        END
                      ) AS REAL) / CASE
                        WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                        THEN CAST(1e-06 AS REAL)
                        WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                        THEN CAST(0.999999 AS REAL)
                        ELSE CAST("t2"."p" AS REAL)
                      END
                    )
                  END - CAST(0.0 AS REAL)
                )
              ) + CAST(0.0 AS REAL)
            ) > CAST(600.0 AS REAL)
            THEN CAST(600.0 AS REAL)
            ELSE (
              "t2"."fairpatch_ratio" * (
                CASE
                  WHEN (
                    CAST((
                      CAST(1.0 AS REAL) - CASE
                        WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                        THEN CAST(1e-06 AS REAL)
                        WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                        THEN CAST(0.999999 AS REAL)
                        ELSE CAST("t2"."p" AS REAL)
                      END
                    ) AS REAL) / CASE
                      WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                      THEN CAST(1e-06 AS REAL)
                      WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                      THEN CAST(0.999999 AS REAL)
                      ELSE CAST("t2"."p" AS REAL)
                    END
                  ) < 0
                  THEN NULL
                  WHEN (
                    CAST((
                      CAST(1.0 AS REAL) - CASE
                        WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                        THEN CAST(1e-06 AS REAL)
                        WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                        THEN CAST(0.999999 AS REAL)
                        ELSE CAST("t2"."p" AS REAL)
                      END
                    ) AS REAL) / CASE
                      WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                      THEN CAST(1e-06 AS REAL)
                      WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                      THEN CAST(0.999999 AS REAL)
                      ELSE CAST("t2"."p" AS REAL)
                    END
                  ) = 0
                  THEN -CAST(1E+999 AS REAL)
                  ELSE LOG(
                    CAST(2.718281828459045 AS REAL),
                    CAST((
                      CAST(1.0 AS REAL) - CASE
                        WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                        THEN CAST(1e-06 AS REAL)
                        WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                        THEN CAST(0.999999 AS REAL)
                        ELSE CAST("t2"."p" AS REAL)
                      END
                    ) AS REAL) / CASE
                      WHEN CAST("t2"."p" AS REAL) < CAST(1e-06 AS REAL)
                      THEN CAST(1e-06 AS REAL)
                      WHEN CAST("t2"."p" AS REAL) > CAST(0.999999 AS REAL)
                      THEN CAST(0.999999 AS REAL)
                      ELSE CAST("t2"."p" AS REAL)
                    END
                  )
                END - CAST(0.0 AS REAL)
              )
            ) + CAST(0.0 AS REAL)
          END
        ) + CAST(1.0 AS REAL)
      )
    END
    ELSE NULL
  END AS "fairpatch_score",
  "t2"."fairpatch_decision",
  CASE
    WHEN NOT ("t2"."fairpatch_decision" IS NULL)
    THEN "t2"."fairpatch_decision" <> (CAST("t2"."p" AS REAL) > CAST(0.5 AS REAL))
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
      WHEN (CAST("t1"."p" AS REAL) >= CAST(0.0 AS REAL))
      AND (CAST("t1"."p" AS REAL) <= CAST(1.0 AS REAL))
      THEN (CAST("t1"."p" AS REAL) > CAST(0.5 AS REAL)) <> (
        (
          (CAST("t1"."p" AS REAL) > CAST(0.5 AS REAL))
          AND ("t1"."fairpatch_ratio" <= CAST(0.0 AS REAL))
        )
        OR (
          NOT (CAST("t1"."p" AS REAL) > CAST(0.5 AS REAL))
          AND ("t1"."fairpatch_ratio" < CAST(0.0 AS REAL))
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
          CAST(0.2 AS REAL) + COALESCE(
            CASE
              WHEN NOT (ABS(CAST("t0"."income" AS REAL)) <= CAST(1e+100 AS REAL))
              THEN CAST(0.3 AS REAL)
              WHEN ABS(CAST("t0"."income" AS REAL)) < CAST(1e-100 AS REAL)
              THEN CAST(0.0 AS REAL)
              ELSE CAST("t0"."income" AS REAL) * -CAST(0.7 AS REAL)
            END,
            CAST(0.3 AS REAL)
          ) + CASE
            WHEN "t0"."job" = 'o''hara'
            THEN -CAST(1.5 AS REAL)
            WHEN "t0"."job" = 'q"q'
            THEN CAST(0.5 AS REAL)
            WHEN "t0"."job" = '\'
            THEN -CAST(2.0 AS REAL)
            WHEN ("t0"."job" IS NULL) OR ("t0"."job" = '')
            THEN -CAST(0.4 AS REAL)
            ELSE CAST(0.1 AS REAL)
          END
        ) * CAST(1.0 AS REAL)
      ) + CAST(1.0 AS REAL) AS "fairpatch_ratio"
    FROM "people" AS "t0"
  ) AS "t1"
) AS "t2"
