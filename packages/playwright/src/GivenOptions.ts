import { checkOptions } from "@delivery/publishing"
import type { FullConfig } from "@playwright/test/reporter"

/**
 * Throws where the configuration gives the reporter an option that it does not have. The options that the reporter gets have
 * others, which versions of Playwright add: those of the configuration are the ones of a reporter that gets all of them as they are.
 */
export const checkGivenOptions = ({ reporter }: Pick<FullConfig, "reporter">, options: object): void => {
  for (const [, given] of reporter) {
    const entries = Object.entries((given ?? {}) as object)
    if (entries.every(([name, value]) => (options as Record<string, unknown>)[name] === value)) {
      checkOptions(Object.fromEntries(entries))
    }
  }
}
