import { Argument } from "effect/cli"

/** The number of a run, as the only way to name one. */
export const runNumber = Argument.Int("run").pipe(
  Argument.filter(
    (value) => value > 0,
    () => "The number of a run is 1 or more."
  ),
  Argument.withDescription("Number of the run")
)
