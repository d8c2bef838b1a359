SELECT
  [t2].[id],
  [t2].[fairpatch_ratio],
  CASE
    WHEN (CAST([t2].[p] AS FLOAT) >= CAST(0.0 AS FLOAT))
    AND (CAST([t2].[p] AS FLOAT) <= CAST(1.0 AS FLOAT))
    THEN CASE
      WHEN (CAST([t2].[p] AS FLOAT) = CAST(0.5 AS FLOAT))
      AND (
        [t2].[fairpatch_decision] <> CASE
          WHEN (CAST([t2].[p] AS FLOAT) > CAST(0.5 AS FLOAT)) THEN 1
          WHEN NOT ((CAST([t2].[p] AS FLOAT) > CAST(0.5 AS FLOAT))) THEN 0
        END
      )
      THEN CAST(0.500000001 AS FLOAT)
      ELSE CAST(1.0 AS FLOAT) / (
        EXP(
          CASE
            WHEN (
              (
                [t2].[fairpatch_ratio] * (
                  CASE
                    WHEN (
                      CAST((
                        CAST(1.0 AS FLOAT) - CASE
                          WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                          THEN CAST(1e-06 AS FLOAT)
                          WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                          THEN CAST(0.999999 AS FLOAT)
                          ELSE CAST([t2].[p] AS FLOAT)
                        END
                      ) AS FLOAT) / CASE
                        WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                        THEN CAST(1e-06 AS FLOAT)
                        WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                        THEN CAST(0.999999 AS FLOAT)
                        ELSE CAST([t2].[p] AS FLOAT)
                      END
                    ) < 0
                    THEN CAST('nan' AS FLOAT)
                    WHEN (
                      CAST((
                        CAST(1.0 AS FLOAT) - CASE
                          WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                          THEN CAST(1e-06 AS FLOAT)
                          WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                          THEN CAST(0.999999 AS FLOAT)
                          ELSE CAST([t2].[p] AS FLOAT)
                        END
                      ) AS FLOAT) / CASE
                        WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                        THEN CAST(1e-06 AS FLOAT)
                        WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                        THEN CAST(0.999999 AS FLOAT)
                        ELSE CAST([t2].[p] AS FLOAT)
                      END
                    ) = 0
                    THEN CAST('-inf' AS FLOAT)
                    ELSE CAST(LOG(
                      CAST((
                        CAST(1.0 AS FLOAT) - CASE
                          WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                          THEN CAST(1e-06 AS FLOAT)
                          WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                          THEN CAST(0.999999 AS FLOAT)
                          ELSE CAST([t2].[p] AS FLOAT)
                        END
                      ) AS FLOAT) / CASE
                        WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                        THEN CAST(1e-06 AS FLOAT)
                        WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                        THEN CAST(0.999999 AS FLOAT)
                        ELSE CAST([t2].[p] AS FLOAT)
                      END
                    ) AS FLOAT) / LOG(CAST(2.718281828459045 AS FLOAT))
                  END - CAST(0.0 AS FLOAT)
                )
              ) + CAST(0.0 AS FLOAT)
            ) < -CAST(600.0 AS FLOAT)
            THEN -CAST(600.0 AS FLOAT)
            WHEN (
              (
                [t2].[fairpatch_ratio] * (
                  CASE
                    WHEN (
                      CAST((
                        CAST(1.0 AS FLOAT) - CASE
                          WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                          THEN CAST(1e-06 AS FLOAT)
                          WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                          THEN CAST(0.999999 AS FLOAT)
                          ELSE CAST([t2].[p] AS FLOAT)
                        END
                      ) AS FLOAT) / CASE
                        WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                        THEN CAST(1e-06 AS FLOAT)
                        WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                        THEN CAST(0.999999 AS FLOAT)
                        ELSE CAST([t2].[p] AS FLOAT)
                      END
                    ) < 0
                    THEN CAST('nan' AS FLOAT)
                    WHEN (
                      CAST((
                        CAST(1.0 AS FLOAT) - CASE
                          WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                          THEN CAST(1e-06 AS FLOAT)
                          WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                          THEN CAST(0.999999 AS FLOAT)
                          ELSE CAST([t2].[p] AS FLOAT)
                        END
                      ) AS FLOAT) / CASE
                        WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                        THEN CAST(1e-06 AS FLOAT)
                        WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                        THEN CAST(0.999999 AS FLOAT)
                        ELSE CAST([t2].[p] AS FLOAT)
                      END
                    ) = 0
                    THEN CAST('-inf' AS FLOAT)
                    ELSE CAST(LOG(
                      CAST((
                        CAST(1.0 AS FLOAT) - CASE
                          WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                          THEN CAST(1e-06 AS FLOAT)
                          WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                          THEN CAST(0.999999 AS FLOAT)
                          ELSE CAST([t2].[p] AS FLOAT)
                        END
                      ) AS FLOAT) / CASE
                        WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                        THEN CAST(1e-06 AS FLOAT)
                        WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                        THEN CAST(0.999999 AS FLOAT)
                        ELSE CAST([t2].[p] AS FLOAT)
                      END
                    ) AS FLOAT) / LOG(CAST(2.718281828459045 AS FLOAT))
                  END - CAST(0.0 AS FLOAT)
                )
              ) + CAST(0.0 AS FLOAT)
            ) > CAST(600.0 AS FLOAT)
            THEN CAST(600.0 AS FLOAT)
            ELSE (
              [t2].[fairpatch_ratio] * (
                CASE
                  WHEN (
                    CAST((
                      CAST(1.0 AS FLOAT) - CASE
                        WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                        THEN CAST(1e-06 AS FLOAT)
                        WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                        THEN CAST(0.999999 AS FLOAT)
                        ELSE CAST([t2].[p] AS FLOAT)
                      END
                    ) AS FLOAT) / CASE
                      WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                      THEN CAST(1e-06 AS FLOAT)
                      WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                      THEN CAST(0.999999 AS FLOAT)
                      ELSE CAST([t2].[p] AS FLOAT)
                    END
                  ) < 0
                  THEN CAST('nan' AS FLOAT)
                  WHEN (
                    CAST((
                      CAST(1.0 AS FLOAT) - CASE
                        WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                        THEN CAST(1e-06 AS FLOAT)
                        WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                        THEN CAST(0.999999 AS FLOAT)
                        ELSE CAST([t2].[p] AS FLOAT)
                      END
                    ) AS FLOAT) / CASE
                      WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                      THEN CAST(1e-06 AS FLOAT)
                      WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                      THEN CAST(0.999999 AS FLOAT)
                      ELSE CAST([t2].[p] AS FLOAT)
                    END
                  ) = 0
                  THEN CAST('-inf' AS FLOAT)
                  ELSE CAST(LOG(
                    CAST((
                      CAST(1.0 AS FLOAT) - CASE
                        WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                        THEN CAST(1e-06 AS FLOAT)
                        WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                        THEN CAST(0.999999 AS FLOAT)
                        ELSE CAST([t2].[p] AS FLOAT)
                      END
                    ) AS FLOAT) / CASE
                      WHEN CAST([t2].[p] AS FLOAT) < CAST(1e-06 AS FLOAT)
                      THEN CAST(1e-06 AS FLOAT)
                      WHEN CAST([t2].[p] AS FLOAT) > CAST(0.999999 AS FLOAT)
                      THEN CAST(0.999999 AS FLOAT)
                      ELSE CAST([t2].[p] AS FLOAT)
                    END
                  ) AS FLOAT) / LOG(CAST(2.718281828459045 AS FLOAT))
                END - CAST(0.0 AS FLOAT)
              )
            ) + CAST(0.0 AS FLOAT)
          END
        ) + CAST(1.0 AS FLOAT)
      )
    END
    ELSE NULL
  END AS [fairpatch_score],
  [t2].[fairpatch_decision],
  CASE
    WHEN NOT ([t2].[fairpatch_decision] IS NULL) THEN CASE
      WHEN [t2].[fairpatch_decision] <> CASE
        WHEN (CAST([t2].[p] AS FLOAT) > CAST(0.5 AS FLOAT)) THEN 1
        WHEN NOT ((CAST([t2].[p] AS FLOAT) > CAST(0.5 AS FLOAT))) THEN 0
      END
      THEN 1
      WHEN NOT (
        [t2].[fairpatch_decision] <> CASE
          WHEN (CAST([t2].[p] AS FLOAT) > CAST(0.5 AS FLOAT)) THEN 1
          WHEN NOT ((CAST([t2].[p] AS FLOAT) > CAST(0.5 AS FLOAT))) THEN 0
        END
      )
      THEN 0
    END
    ELSE NULL
  END AS [fairpatch_changed]
FROM (
  SELECT
    [t1].[id] AS [id],
    [t1].[income] AS [income],
    [t1].[job] AS [job],
    [t1].[p] AS [p],
    [t1].[fairpatch_ratio] AS [fairpatch_ratio],
    CASE
      WHEN (CAST([t1].[p] AS FLOAT) >= CAST(0.0 AS FLOAT))
      AND (CAST([t1].[p] AS FLOAT) <= CAST(1.0 AS FLOAT))
      THEN CASE
        WHEN CASE
          WHEN (CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT)) THEN 1
          WHEN NOT ((CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT))) THEN 0
        END <> CASE
          WHEN (
            (
              (CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT))
              AND ([t1].[fairpatch_ratio] <= CAST(0.0 AS FLOAT))
            )
            OR (
              NOT (CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT))
              AND ([t1].[fairpatch_ratio] < CAST(0.0 AS FLOAT))
            )
          )
          THEN 1
          WHEN NOT (
            (
              (
                (CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT))
                AND ([t1].[fairpatch_ratio] <= CAST(0.0 AS FLOAT))
              )
              OR (
                NOT (CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT))
                AND ([t1].[fairpatch_ratio] < CAST(0.0 AS FLOAT))
              )
            )
          )
          THEN 0
        END
        THEN 1
        WHEN NOT (
          CASE
            WHEN (CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT)) THEN 1
            WHEN NOT ((CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT))) THEN 0
          END <> CASE
            WHEN (
              (
                (CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT))
                AND ([t1].[fairpatch_ratio] <= CAST(0.0 AS FLOAT))
              )
              OR (
                NOT (CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT))
                AND ([t1].[fairpatch_ratio] < CAST(0.0 AS FLOAT))
              )
            )
            THEN 1
            WHEN NOT (
              (
                (
                  (CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT))
                  AND ([t1].[fairpatch_ratio] <= CAST(0.0 AS FLOAT))
                )
                OR (
                  NOT (CAST([t1].[p] AS FLOAT) > CAST(0.5 AS FLOAT))
                  AND ([t1].[fairpatch_ratio] < CAST(0.0 AS FLOAT))
                )
              )
            )
            THEN 0
          END
        )
        THEN 0
      END
      ELSE NULL
    END AS [fairpatch_decision]
  FROM (
    SELECT
      [t0].[id] AS [id],
      [t0].[income] AS [income],
      [t0].[job] AS [job],
      [t0].[p] AS [p],
      (
        (
          CAST(0.2 AS FLOAT) + COALESCE(
            CASE
              WHEN NOT (ABS(CAST([t0].[income] AS FLOAT)) <= CAST(1e+100 AS FLOAT))
              THEN CAST(0.3 AS FLOAT)
              WHEN ABS(CAST([t0].[income] AS FLOAT)) < CAST(1e-100 AS FLOAT)
              THEN CAST(0.0 AS FLOAT)
              ELSE CAST([t0].[income] AS FLOAT) * -CAST(0.7 AS FLOAT)
            END,
            CAST(0.3 AS FLOAT)
          ) + CASE
            WHEN [t0].[job] COLLATE Latin1_General_100_BIN2 = N'o''hara'
            THEN -CAST(1.5 AS FLOAT)
            WHEN [t0].[job] COLLATE Latin1_General_100_BIN2 = N'q"q'
            THEN CAST(0.5 AS FLOAT)
            WHEN [t0].[job] COLLATE Latin1_General_100_BIN2 = N'\'
            THEN -CAST(2.0 AS FLOAT)
            WHEN ([t0].[job] IS NULL)
            OR ([t0].[job] COLLATE Latin1_General_100_BIN2 = N'')
            THEN -CAST(0.4 AS FLOAT)
            ELSE CAST(0.1 AS FLOAT)
          END
        ) * CAST(1.0 AS FLOAT)
      ) + CAST(1.0 AS FLOAT) AS [fairpatch_ratio]
    FROM [people] AS [t0]
  ) AS [t1]
) AS [t2]
