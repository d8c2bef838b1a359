SELECT
  "t2"."id",
  "t2"."fairpatch_ratio",
  "t2"."fairpatch_score",
  "t2"."fairpatch_decision",
  CASE
    WHEN NOT (
      "t2"."fairpatch_decision" IS NULL
    )
    THEN "t2"."fairpatch_decision" <> (
      CAST("t2"."p" AS DOUBLE) > 0.5
    )
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
      WHEN NOT (
        CAST("t1"."p" AS DOUBLE) IS NULL
      )
      AND (
        CAST("t1"."p" AS DOUBLE) >= 0.0
      )
      AND (
        CAST("t1"."p" AS DOUBLE) <= 1.0
      )
      THEN 1.0 / (
        EXP(
          CASE
            WHEN (
              (
                "t1"."fairpatch_ratio" * (
                  CASE
                    WHEN (
                      (
                        1.0 - CASE
                          WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                          THEN 1e-06
                          ELSE CASE
                            WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                            THEN 0.999999
                            ELSE CAST("t1"."p" AS DOUBLE)
                          END
                        END
                      ) / CASE
                        WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                        THEN 1e-06
                        ELSE CASE
                          WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                          THEN 0.999999
                          ELSE CAST("t1"."p" AS DOUBLE)
                        END
                      END
                    ) < 0
                    THEN CAST('nan' AS DOUBLE)
                    WHEN (
                      (
                        1.0 - CASE
                          WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                          THEN 1e-06
                          ELSE CASE
                            WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                            THEN 0.999999
                            ELSE CAST("t1"."p" AS DOUBLE)
                          END
                        END
                      ) / CASE
                        WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                        THEN 1e-06
                        ELSE CASE
                          WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                          THEN 0.999999
                          ELSE CAST("t1"."p" AS DOUBLE)
                        END
                      END
                    ) = 0
                    THEN CAST('-inf' AS DOUBLE)
                    ELSE LN(
                      (
                        1.0 - CASE
                          WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                          THEN 1e-06
                          ELSE CASE
                            WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                            THEN 0.999999
                            ELSE CAST("t1"."p" AS DOUBLE)
                          END
                        END
                      ) / CASE
                        WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                        THEN 1e-06
                        ELSE CASE
                          WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                          THEN 0.999999
                          ELSE CAST("t1"."p" AS DOUBLE)
                        END
                      END
                    ) / LN(2.718281828459045)
                  END - 0.0
                )
              ) + 0.0
            ) > 600.0
            THEN 600.0
            ELSE CASE
              WHEN (
                (
                  "t1"."fairpatch_ratio" * (
                    CASE
                      WHEN (
                        (
                          1.0 - CASE
                            WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                            THEN 1e-06
                            ELSE CASE
                              WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                              THEN 0.999999
                              ELSE CAST("t1"."p" AS DOUBLE)
                            END
                          END
                        ) / CASE
                          WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                          THEN 1e-06
                          ELSE CASE
                            WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                            THEN 0.999999
                            ELSE CAST("t1"."p" AS DOUBLE)
                          END
                        END
                      ) < 0
                      THEN CAST('nan' AS DOUBLE)
                      WHEN (
                        (
                          1.0 - CASE
                            WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                            THEN 1e-06
                            ELSE CASE
                              WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                              THEN 0.999999
                              ELSE CAST("t1"."p" AS DOUBLE)
                            END
                          END
                        ) / CASE
                          WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                          THEN 1e-06
                          ELSE CASE
                            WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                            THEN 0.999999
                            ELSE CAST("t1"."p" AS DOUBLE)
                          END
                        END
                      ) = 0
                      THEN CAST('-inf' AS DOUBLE)
                      ELSE LN(
                        (
                          1.0 - CASE
                            WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                            THEN 1e-06
                            ELSE CASE
                              WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                              THEN 0.999999
                              ELSE CAST("t1"."p" AS DOUBLE)
                            END
                          END
                        ) / CASE
                          WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                          THEN 1e-06
                          ELSE CASE
                            WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                            THEN 0.999999
                            ELSE CAST("t1"."p" AS DOUBLE)
                          END
                        END
                      ) / LN(2.718281828459045)
                    END - 0.0
                  )
                ) + 0.0
              ) < -600.0
              THEN -600.0
              ELSE (
                "t1"."fairpatch_ratio" * (
                  CASE
                    WHEN (
                      (
                        1.0 - CASE
                          WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                          THEN 1e-06
                          ELSE CASE
                            WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                            THEN 0.999999
                            ELSE CAST("t1"."p" AS DOUBLE)
                          END
                        END
                      ) / CASE
                        WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                        THEN 1e-06
                        ELSE CASE
                          WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                          THEN 0.999999
                          ELSE CAST("t1"."p" AS DOUBLE)
                        END
                      END
                    ) < 0
                    THEN CAST('nan' AS DOUBLE)
                    WHEN (
                      (
                        1.0 - CASE
                          WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                          THEN 1e-06
                          ELSE CASE
                            WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                            THEN 0.999999
                            ELSE CAST("t1"."p" AS DOUBLE)
                          END
                        END
                      ) / CASE
                        WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                        THEN 1e-06
                        ELSE CASE
                          WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                          THEN 0.999999
                          ELSE CAST("t1"."p" AS DOUBLE)
                        END
                      END
                    ) = 0
                    THEN CAST('-inf' AS DOUBLE)
                    ELSE LN(
                      (
                        1.0 - CASE
                          WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                          THEN 1e-06
                          ELSE CASE
                            WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                            THEN 0.999999
                            ELSE CAST("t1"."p" AS DOUBLE)
                          END
                        END
                      ) / CASE
                        WHEN CAST("t1"."p" AS DOUBLE) < 1e-06
                        THEN 1e-06
                        ELSE CASE
                          WHEN CAST("t1"."p" AS DOUBLE) > 0.999999
                          THEN 0.999999
                          ELSE CAST("t1"."p" AS DOUBLE)
                        END
                      END
                    ) / LN(2.718281828459045)
                  END - 0.0
                )
              ) + 0.0
            END
          END
        ) + 1.0
      )
      ELSE NULL
    END AS "fairpatch_score",
    CASE
      WHEN NOT (
        CAST("t1"."p" AS DOUBLE) IS NULL
      )
      AND (
        CAST("t1"."p" AS DOUBLE) >= 0.0
      )
      AND (
        CAST("t1"."p" AS DOUBLE) <= 1.0
      )
      THEN (
        "t1"."fairpatch_ratio" * (
          CAST("t1"."p" AS DOUBLE) - 0.5
        )
      ) > 0.0
      ELSE NULL
    END AS "fairpatch_decision"
  FROM (
    SELECT
      "t0"."id",
      "t0"."income",
      "t0"."job",
      "t0"."p",
      1.2 + CASE
        WHEN (
          CAST("t0"."income" AS DOUBLE) <= 1e+100
        )
        AND (
          CAST("t0"."income" AS DOUBLE) >= -1E+100
        )
        THEN CASE
          WHEN (
            CAST("t0"."income" AS DOUBLE) >= 1e-100
          )
          OR (
            CAST("t0"."income" AS DOUBLE) <= -1E-100
          )
          THEN CAST("t0"."income" AS DOUBLE)
          ELSE 0.0
        END * -0.7
        ELSE 0.3
      END + CASE
        WHEN "t0"."job" = '\'
        THEN -2.0
        ELSE CASE
          WHEN "t0"."job" = 'q"q'
          THEN 0.5
          ELSE CASE
            WHEN "t0"."job" = 'o''hara'
            THEN -1.5
            ELSE CASE WHEN (
              "t0"."job" IS NULL
            ) OR (
              "t0"."job" = ''
            ) THEN -0.4 ELSE 0.1 END
          END
        END
      END AS "fairpatch_ratio"
    FROM "people" AS "t0"
  ) AS "t1"
) AS "t2"
