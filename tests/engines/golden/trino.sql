SELECT
  "t2"."id",
  "t2"."fairpatch_ratio",
  CASE
    WHEN (CAST("t2"."p" AS DOUBLE) >= CAST(CAST(0.0 AS DOUBLE) AS DOUBLE))
    AND (CAST("t2"."p" AS DOUBLE) <= CAST(CAST(1.0 AS DOUBLE) AS DOUBLE))
    THEN CASE
      WHEN (CAST("t2"."p" AS DOUBLE) = CAST(CAST(0.5 AS DOUBLE) AS DOUBLE))
      AND ("t2"."fairpatch_decision" <> (CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.5 AS DOUBLE) AS DOUBLE)))
      THEN CAST(CAST(0.500000001 AS DOUBLE) AS DOUBLE)
      ELSE CAST(CAST(1.0 AS DOUBLE) AS DOUBLE) / (
        EXP(
          CASE
            WHEN (
              (
                "t2"."fairpatch_ratio" * (
                  CASE
                    WHEN (
                      CAST((
                        CAST(CAST(1.0 AS DOUBLE) AS DOUBLE) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          ELSE CAST("t2"."p" AS DOUBLE)
                        END
                      ) AS DOUBLE) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        ELSE CAST("t2"."p" AS DOUBLE)
                      END
                    ) < 0
                    THEN NAN()
                    WHEN (
                      CAST((
                        CAST(CAST(1.0 AS DOUBLE) AS DOUBLE) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          ELSE CAST("t2"."p" AS DOUBLE)
                        END
                      ) AS DOUBLE) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        ELSE CAST("t2"."p" AS DOUBLE)
                      END
                    ) = 0
                    THEN -INFINITY()
                    ELSE LOG(
                      CAST(CAST(2.718281828459045 AS DOUBLE) AS DOUBLE),
                      CAST((
                        CAST(CAST(1.0 AS DOUBLE) AS DOUBLE) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          ELSE CAST("t2"."p" AS DOUBLE)
                        END
                      ) AS DOUBLE) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        ELSE CAST("t2"."p" AS DOUBLE)
                      END
                    )
                  END - CAST(CAST(0.0 AS DOUBLE) AS DOUBLE)
                )
              ) + CAST(CAST(0.0 AS DOUBLE) AS DOUBLE)
            ) < CAST(-CAST(600.0 AS DOUBLE) AS DOUBLE)
            THEN CAST(-CAST(600.0 AS DOUBLE) AS DOUBLE)
            WHEN (
              (
                "t2"."fairpatch_ratio" * (
                  CASE
                    WHEN (
                      CAST((
                        CAST(CAST(1.0 AS DOUBLE) AS DOUBLE) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          ELSE CAST("t2"."p" AS DOUBLE)
                        END
                      ) AS DOUBLE) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        ELSE CAST("t2"."p" AS DOUBLE)
                      END
                    ) < 0
                    THEN NAN()
                    WHEN (
                      CAST((
                        CAST(CAST(1.0 AS DOUBLE) AS DOUBLE) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          ELSE CAST("t2"."p" AS DOUBLE)
                        END
                      ) AS DOUBLE) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        ELSE CAST("t2"."p" AS DOUBLE)
                      END
                    ) = 0
                    THEN -INFINITY()
                    ELSE LOG(
                      CAST(CAST(2.718281828459045 AS DOUBLE) AS DOUBLE),
                      CAST((
                        CAST(CAST(1.0 AS DOUBLE) AS DOUBLE) - CASE
                          WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                          WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                          ELSE CAST("t2"."p" AS DOUBLE)
                        END
                      ) AS DOUBLE) / CASE
                        WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        ELSE CAST("t2"."p" AS DOUBLE)
                      END
                    )
                  END - CAST(CAST(0.0 AS DOUBLE) AS DOUBLE)
                )
              ) + CAST(CAST(0.0 AS DOUBLE) AS DOUBLE)
            ) > CAST(CAST(600.0 AS DOUBLE) AS DOUBLE)
            THEN CAST(CAST(600.0 AS DOUBLE) AS DOUBLE)
            ELSE (
              "t2"."fairpatch_ratio" * (
                CASE
                  WHEN (
                    CAST((
                      CAST(CAST(1.0 AS DOUBLE) AS DOUBLE) - CASE
                        WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        ELSE CAST("t2"."p" AS DOUBLE)
                      END
                    ) AS DOUBLE) / CASE
                      WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                      THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                      WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                      THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                      ELSE CAST("t2"."p" AS DOUBLE)
                    END
                  ) < 0
                  THEN NAN()
                  WHEN (
                    CAST((
                      CAST(CAST(1.0 AS DOUBLE) AS DOUBLE) - CASE
                        WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        ELSE CAST("t2"."p" AS DOUBLE)
                      END
                    ) AS DOUBLE) / CASE
                      WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                      THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                      WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                      THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                      ELSE CAST("t2"."p" AS DOUBLE)
                    END
                  ) = 0
                  THEN -INFINITY()
                  ELSE LOG(
                    CAST(CAST(2.718281828459045 AS DOUBLE) AS DOUBLE),
                    CAST((
                      CAST(CAST(1.0 AS DOUBLE) AS DOUBLE) - CASE
                        WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                        WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                        ELSE CAST("t2"."p" AS DOUBLE)
                      END
                    ) AS DOUBLE) / CASE
                      WHEN CAST("t2"."p" AS DOUBLE) < CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                      THEN CAST(CAST(1e-06 AS DOUBLE) AS DOUBLE)
                      WHEN CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                      THEN CAST(CAST(0.999999 AS DOUBLE) AS DOUBLE)
                      ELSE CAST("t2"."p" AS DOUBLE)
                    END
                  )
                END - CAST(CAST(0.0 AS DOUBLE) AS DOUBLE)
              )
            ) + CAST(CAST(0.0 AS DOUBLE) AS DOUBLE)
          END
        ) + CAST(CAST(1.0 AS DOUBLE) AS DOUBLE)
      )
    END
    ELSE NULL
  END AS "fairpatch_score",
  "t2"."fairpatch_decision",
  CASE
    WHEN NOT ("t2"."fairpatch_decision" IS NULL)
    THEN "t2"."fairpatch_decision" <> (CAST("t2"."p" AS DOUBLE) > CAST(CAST(0.5 AS DOUBLE) AS DOUBLE))
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
      WHEN (CAST("t1"."p" AS DOUBLE) >= CAST(CAST(0.0 AS DOUBLE) AS DOUBLE))
      AND (CAST("t1"."p" AS DOUBLE) <= CAST(CAST(1.0 AS DOUBLE) AS DOUBLE))
      THEN (CAST("t1"."p" AS DOUBLE) > CAST(CAST(0.5 AS DOUBLE) AS DOUBLE)) <> (
        (
          (CAST("t1"."p" AS DOUBLE) > CAST(CAST(0.5 AS DOUBLE) AS DOUBLE))
          AND ("t1"."fairpatch_ratio" <= CAST(CAST(0.0 AS DOUBLE) AS DOUBLE))
        )
        OR (
          NOT (CAST("t1"."p" AS DOUBLE) > CAST(CAST(0.5 AS DOUBLE) AS DOUBLE))
          AND ("t1"."fairpatch_ratio" < CAST(CAST(0.0 AS DOUBLE) AS DOUBLE))
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
          CAST(CAST(0.2 AS DOUBLE) AS DOUBLE) + COALESCE(
            CASE
              WHEN NOT (ABS(CAST("t0"."income" AS DOUBLE)) <= CAST(CAST(1e+100 AS DOUBLE) AS DOUBLE))
              THEN CAST(CAST(0.3 AS DOUBLE) AS DOUBLE)
              WHEN ABS(CAST("t0"."income" AS DOUBLE)) < CAST(CAST(1e-100 AS DOUBLE) AS DOUBLE)
              THEN CAST(CAST(0.0 AS DOUBLE) AS DOUBLE)
              ELSE CAST("t0"."income" AS DOUBLE) * CAST(-CAST(0.7 AS DOUBLE) AS DOUBLE)
            END,
            CAST(CAST(0.3 AS DOUBLE) AS DOUBLE)
          ) + CASE
            WHEN "t0"."job" = 'o''hara'
            THEN CAST(-CAST(1.5 AS DOUBLE) AS DOUBLE)
            WHEN "t0"."job" = 'q"q'
            THEN CAST(CAST(0.5 AS DOUBLE) AS DOUBLE)
            WHEN "t0"."job" = '\'
            THEN CAST(-CAST(2.0 AS DOUBLE) AS DOUBLE)
            WHEN ("t0"."job" IS NULL) OR ("t0"."job" = '')
            THEN CAST(-CAST(0.4 AS DOUBLE) AS DOUBLE)
            ELSE CAST(CAST(0.1 AS DOUBLE) AS DOUBLE)
          END
        ) * CAST(CAST(1.0 AS DOUBLE) AS DOUBLE)
      ) + CAST(CAST(1.0 AS DOUBLE) AS DOUBLE) AS "fairpatch_ratio"
    FROM "people" AS "t0"
  ) AS "t1"
) AS "t2"
