SELECT
  "t2"."id" AS "id",
  "t2"."fairpatch_ratio" AS "fairpatch_ratio",
  CASE
    WHEN (CAST("t2"."p" AS Nullable(Float64)) >= 0.0)
    AND (CAST("t2"."p" AS Nullable(Float64)) <= 1.0)
    THEN CASE
      WHEN (CAST("t2"."p" AS Nullable(Float64)) = 0.5)
      AND ("t2"."fairpatch_decision" <> (CAST("t2"."p" AS Nullable(Float64)) > 0.5))
      THEN 0.500000001
      ELSE 1.0 / (
        EXP(
          CASE
            WHEN (
              (
                "t2"."fairpatch_ratio" * (
                  CASE
                    WHEN (
                      (
                        1.0 - CASE
                          WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                          THEN 1e-06
                          WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                          ELSE CAST("t2"."p" AS Nullable(Float64))
                        END
                      ) / CASE
                        WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                        THEN 1e-06
                        WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                        ELSE CAST("t2"."p" AS Nullable(Float64))
                      END
                    ) < 0
                    THEN nan
                    WHEN (
                      (
                        1.0 - CASE
                          WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                          THEN 1e-06
                          WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                          ELSE CAST("t2"."p" AS Nullable(Float64))
                        END
                      ) / CASE
                        WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                        THEN 1e-06
                        WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                        ELSE CAST("t2"."p" AS Nullable(Float64))
                      END
                    ) = 0
                    THEN -inf
                    ELSE LN(
                      (
                        1.0 - CASE
                          WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                          THEN 1e-06
                          WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                          ELSE CAST("t2"."p" AS Nullable(Float64))
                        END
                      ) / CASE
                        WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                        THEN 1e-06
                        WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                        ELSE CAST("t2"."p" AS Nullable(Float64))
                      END
                    ) / LN(2.718281828459045)
                  END - 0.0
                )
              ) + 0.0
            ) < -600.0
            THEN -600.0
            WHEN (
              (
                "t2"."fairpatch_ratio" * (
                  CASE
                    WHEN (
                      (
                        1.0 - CASE
                          WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                          THEN 1e-06
                          WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                          ELSE CAST("t2"."p" AS Nullable(Float64))
                        END
                      ) / CASE
                        WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                        THEN 1e-06
                        WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                        ELSE CAST("t2"."p" AS Nullable(Float64))
                      END
                    ) < 0
                    THEN nan
                    WHEN (
                      (
                        1.0 - CASE
                          WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                          THEN 1e-06
                          WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                          ELSE CAST("t2"."p" AS Nullable(Float64))
                        END
                      ) / CASE
                        WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                        THEN 1e-06
                        WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                        ELSE CAST("t2"."p" AS Nullable(Float64))
                      END
                    ) = 0
                    THEN -inf
                    ELSE LN(
                      (
                        1.0 - CASE
                          WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                          THEN 1e-06
                          WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                          ELSE CAST("t2"."p" AS Nullable(Float64))
                        END
                      ) / CASE
                        WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                        THEN 1e-06
                        WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                        ELSE CAST("t2"."p" AS Nullable(Float64))
                      END
                    ) / LN(2.718281828459045)
                  END - 0.0
                )
              ) + 0.0
            ) > 600.0
            THEN 600.0
            ELSE (
              "t2"."fairpatch_ratio" * (
                CASE
                  WHEN (
                    (
                      1.0 - CASE
                        WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                        THEN 1e-06
                        WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                        ELSE CAST("t2"."p" AS Nullable(Float64))
                      END
                    ) / CASE
                      WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                      THEN 1e-06
                      WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                      ELSE CAST("t2"."p" AS Nullable(Float64))
                    END
                  ) < 0
                  THEN nan
                  WHEN (
                    (
                      1.0 - CASE
                        WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                        THEN 1e-06
                        WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                        ELSE CAST("t2"."p" AS Nullable(Float64))
                      END
                    ) / CASE
                      WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                      THEN 1e-06
                      WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                      ELSE CAST("t2"."p" AS Nullable(Float64))
                    END
                  ) = 0
                  THEN -inf
                  ELSE LN(
                    (
                      1.0 - CASE
                        WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                        THEN 1e-06
                        WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                        ELSE CAST("t2"."p" AS Nullable(Float64))
                      END
                    ) / CASE
                      WHEN CAST("t2"."p" AS Nullable(Float64)) < 1e-06
                      THEN 1e-06
                      WHEN CAST("t2"."p" AS Nullable(Float64)) > 0.999999 THEN 0.999999
                      ELSE CAST("t2"."p" AS Nullable(Float64))
                    END
                  ) / LN(2.718281828459045)
                END - 0.0
              )
            ) + 0.0
          END
        ) + 1.0
      )
    END
    ELSE NULL
  END AS "fairpatch_score",
  "t2"."fairpatch_decision" AS "fairpatch_decision",
  CASE
    WHEN NOT (isNull("t2"."fairpatch_decision"))
    THEN "t2"."fairpatch_decision" <> (CAST("t2"."p" AS Nullable(Float64)) > 0.5)
    ELSE NULL
  END AS "fairpatch_changed"
FROM (
  SELECT
    "t1"."id" AS "id",
    "t1"."income" AS "income",
    "t1"."job" AS "job",
    "t1"."p" AS "p",
    "t1"."fairpatch_ratio" AS "fairpatch_ratio",
    CASE
      WHEN (CAST("t1"."p" AS Nullable(Float64)) >= 0.0)
      AND (CAST("t1"."p" AS Nullable(Float64)) <= 1.0)
      THEN (CAST("t1"."p" AS Nullable(Float64)) > 0.5) <> (
        (
          (CAST("t1"."p" AS Nullable(Float64)) > 0.5)
          AND ("t1"."fairpatch_ratio" <= 0.0)
        )
        OR (
          NOT (CAST("t1"."p" AS Nullable(Float64)) > 0.5)
          AND ("t1"."fairpatch_ratio" < 0.0)
        )
      )
      ELSE NULL
    END AS "fairpatch_decision"
  FROM (
    SELECT
      "t0"."id" AS "id",
      "t0"."income" AS "income",
      "t0"."job" AS "job",
      "t0"."p" AS "p",
      (
        (
          0.2 + COALESCE(
            CASE
              WHEN NOT (ABS(CAST("t0"."income" AS Nullable(Float64))) <= 1e+100) THEN 0.3
              WHEN ABS(CAST("t0"."income" AS Nullable(Float64))) < 1e-100 THEN 0.0
              ELSE CAST("t0"."income" AS Nullable(Float64)) * -0.7
            END,
            0.3
          ) + CASE
            WHEN "t0"."job" = 'o''hara' THEN -1.5
            WHEN "t0"."job" = 'q"q' THEN 0.5
            WHEN "t0"."job" = '\\' THEN -2.0
            WHEN isNull("t0"."job") OR ("t0"."job" = '') THEN -0.4
            ELSE 0.1
          END
        ) * 1.0
      ) + 1.0 AS "fairpatch_ratio"
    FROM "people" AS "t0"
  ) AS "t1"
) AS "t2"
