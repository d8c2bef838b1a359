select * from read_parquet('{{ env_var("PEOPLE") }}')
