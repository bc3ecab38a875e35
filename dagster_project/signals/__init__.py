"""Pure text logic: functions from columns to columns, one row or one session at a time."""
