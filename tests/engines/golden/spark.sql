SELECT
  `t2`.`id`,
  `t2`.`fairpatch_ratio`,
  `t2`.`fairpatch_score`,
  `t2`.`fairpatch_decision`,
  `t2`.`fairpatch_decision` <> (
    `t2`.`p` > 0.5
  ) AS `fairpatch_changed`
FROM (
  SELECT
    `t1`.`id`,
    `t1`.`income`,
    `t1`.`job`,
    `t1`.`p`,
    `t1`.`fairpatch_ratio`,
    CASE
      WHEN NOT (
        `t1`.`p` IS NULL OR ISNAN(`t1`.`p`)
      )
      AND (
        `t1`.`p` >= 0.0
      )
      AND (
        `t1`.`p` <= 1.0
      )
      THEN 1.0 / (
        (
          POWER(
            (
              (
                1.0 - CASE
                  WHEN CASE WHEN `t1`.`p` < 1e-06 THEN 1e-06 ELSE `t1`.`p` END > 0.999999
                  THEN 0.999999
                  ELSE CASE WHEN `t1`.`p` < 1e-06 THEN 1e-06 ELSE `t1`.`p` END
                END
              ) / CASE
                WHEN CASE WHEN `t1`.`p` < 1e-06 THEN 1e-06 ELSE `t1`.`p` END > 0.999999
                THEN 0.999999
                ELSE CASE WHEN `t1`.`p` < 1e-06 THEN 1e-06 ELSE `t1`.`p` END
              END
            ),
            `t1`.`fairpatch_ratio`
          )
        ) + 1.0
      )
      ELSE NULL
    END AS `fairpatch_score`,
    CASE
      WHEN NOT (
        `t1`.`p` IS NULL OR ISNAN(`t1`.`p`)
      )
      AND (
        `t1`.`p` >= 0.0
      )
      AND (
        `t1`.`p` <= 1.0
      )
      THEN (
        (
          `t1`.`p` > 0.5
        ) AND (
          `t1`.`fairpatch_ratio` > 0
        )
      )
      OR (
        (
          `t1`.`p` < 0.5
        ) AND (
          `t1`.`fairpatch_ratio` < 0
        )
      )
      ELSE NULL
    END AS `fairpatch_decision`
  FROM (
    SELECT
      `t0`.`id`,
      `t0`.`income`,
      `t0`.`job`,
      `t0`.`p`,
      1.2 + CASE
        WHEN `t0`.`income` IS NULL
        OR ISNAN(`t0`.`income`)
        OR NOT (
          `t0`.`income` <= 1.7976931348623157e+308
        )
        THEN 0.3
        ELSE `t0`.`income` * -0.7
      END + CASE
        WHEN `t0`.`job` IS NULL
        THEN -0.4
        ELSE CASE
          WHEN `t0`.`job` = '\\'
          THEN -2.0
          ELSE CASE
            WHEN `t0`.`job` = 'q"q'
            THEN 0.5
            ELSE CASE WHEN `t0`.`job` = 'o\'hara' THEN -1.5 ELSE 0.1 END
          END
        END
      END AS `fairpatch_ratio`
    FROM `people` AS `t0`
  ) AS `t1`
) AS `t2`
