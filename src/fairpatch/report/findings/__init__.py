"""What a validator should look at before signing: one function a finding."""
