/** Which run to retry, as `delivery-playwright retry` tells the reporter. */
export interface RetryRequest {
  readonly run: number
  readonly passes: number
  /** Where to say that this reporter is part of the configuration. */
  readonly probe: string | undefined
}

/** How the command line tells the reporter what it is asked for. */
export const retryVariables = {
  run: "DELIVERY_RETRY_OF_RUN",
  passes: "DELIVERY_RETRY_PASSES",
  probe: "DELIVERY_RETRY_PROBE"
} as const

/** The retry that this process is to publish, or undefined where it publishes a run. */
export const retryRequest = (environment: Readonly<Record<string, string | undefined>>): RetryRequest | undefined => {
  const run = environment[retryVariables.run]
  if (run === undefined) return undefined
  return {
    run: Number(run),
    passes: Number(environment[retryVariables.passes]),
    probe: environment[retryVariables.probe]
  }
}
