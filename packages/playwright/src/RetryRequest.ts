/** The run to retry, as `delivery-playwright retry` passes it to the reporter. */
export interface RetryRequest {
  readonly run: number
  readonly passes: number
  /** A file to write, to say that this reporter is configured. */
  readonly probe: string | undefined
  /** A file to write, to say that the command or the configuration is wrong. */
  readonly refused: string | undefined
}

/** The environment variables by which the command line calls the reporter. */
export const retryVariables = {
  run: "DELIVERY_RETRY_OF_RUN",
  passes: "DELIVERY_RETRY_PASSES",
  probe: "DELIVERY_RETRY_PROBE",
  refused: "DELIVERY_RETRY_REFUSED"
} as const

/** The retry that this process should publish; undefined if it publishes a run. */
export const retryRequest = (environment: Readonly<Record<string, string | undefined>>): RetryRequest | undefined => {
  const run = environment[retryVariables.run]
  if (run === undefined) return undefined
  return {
    run: Number(run),
    passes: Number(environment[retryVariables.passes]),
    probe: environment[retryVariables.probe],
    refused: environment[retryVariables.refused]
  }
}
