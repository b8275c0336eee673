"""The ground floor: from observations to scores. Pure functions; knows no database, no HTTP and no clock."""
