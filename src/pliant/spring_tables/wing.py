"""Declaration of the wing ``spring_tables``."""

from pliant.base.wing import Wing

WING = Wing(
    name="spring_tables",
    summary="A spring that was measured: a table of deflection and torque as the law of a joint",
    laws={"sea_table": "pliant.spring_tables.law:TableSEA"},
)
