"""`rs.copy`: TFRecords into other TFRecords, filtered, divided, shuffled or compressed."""
