import type { StartedRetry, StartedTestRun } from "@delivery/client"

/** The run that the tests belong to, and its retry if the failed tests run again. */
export interface CurrentRun extends Omit<StartedTestRun, "muted"> {
  /** The number of the retry; null for the run itself. */
  readonly retry: number | null
}

/** The environment variables that tell the tests about their run. Workers inherit them. */
const variables = (run: CurrentRun): Record<string, string | undefined> => ({
  DELIVERY_RUN_NUMBER: String(run.number),
  DELIVERY_RETRY_NUMBER: run.retry?.toString(),
  DELIVERY_RUN_URL: run.url,
  DELIVERY_FIXTURE_SCOPE: run.fixture?.scope,
  DELIVERY_FIXTURE_TOKEN: run.fixture?.token,
  DELIVERY_FIXTURE_URL: run.fixture?.url,
  DELIVERY_FIXTURE_EXPIRES_AT: run.fixture?.expiresAt,
  DELIVERY_SEMAPHORES_URL: run.semaphores.url,
  DELIVERY_SEMAPHORES_TOKEN: run.semaphores.token,
  DELIVERY_SEMAPHORES_EXPIRES_AT: run.semaphores.expiresAt
})

/** Tells every worker that starts from now on about the run. */
export const announceRun = (run: StartedTestRun): void => announce({ ...run, retry: null })

/** Tells them about a retry of the run. */
export const announceRetry = (
  { number, url }: Pick<StartedTestRun, "number" | "url">,
  { fixture, retry, semaphores }: StartedRetry
): void => announce({ number, url, fixture, semaphores, retry })

const announce = (run: CurrentRun): void => {
  for (const [name, value] of Object.entries(variables(run))) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

/**
 * The run that this test belongs to, with its fixture scope and its semaphore token; undefined if nothing is published.
 * For use in tests and fixtures.
 */
export const currentRun = (): CurrentRun | undefined => {
  const read = (name: string): string => process.env[name] ?? ""
  if (read("DELIVERY_RUN_NUMBER") === "") return undefined
  return {
    number: Number(read("DELIVERY_RUN_NUMBER")),
    url: read("DELIVERY_RUN_URL"),
    retry: read("DELIVERY_RETRY_NUMBER") === "" ? null : Number(read("DELIVERY_RETRY_NUMBER")),
    fixture:
      read("DELIVERY_FIXTURE_TOKEN") === ""
        ? null
        : {
            scope: read("DELIVERY_FIXTURE_SCOPE"),
            token: read("DELIVERY_FIXTURE_TOKEN"),
            url: read("DELIVERY_FIXTURE_URL"),
            expiresAt: read("DELIVERY_FIXTURE_EXPIRES_AT")
          },
    semaphores: {
      url: read("DELIVERY_SEMAPHORES_URL"),
      token: read("DELIVERY_SEMAPHORES_TOKEN"),
      expiresAt: read("DELIVERY_SEMAPHORES_EXPIRES_AT")
    }
  }
}
