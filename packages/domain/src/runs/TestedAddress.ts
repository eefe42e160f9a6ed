import type { TestRunSummary } from "./TestRun.ts"

/** Which address a run or a retry tested: the deployment that the run names, or another one, such as a preview (docs/contract.md, Readiness). */

/** The address of a URL as it is compared. */
export const plainAddress = (url: string): string =>
  url
    .replace(/\/*\??#?$/, "")
    .toLowerCase()
    .replace(/^(https?:\/\/[^/:?#]*[^/:?#.])\.(?=[/:?#]|$)/, "$1")
    .replace(/^(https:\/\/[^/]+):443(?=\/|$)|^(http:\/\/[^/]+):80(?=\/|$)/, "$1$2")

/** Whether two URLs are of one address: a slash or an empty query or fragment at the end, a dot after the host, upper case and the port of the scheme make no difference. */
export const isSameAddress = (one: string, other: string): boolean => plainAddress(one) === plainAddress(other)

/** A deployment without a base URL has no address that another one could differ from. */
export const testsDeployment = ({
  baseUrl,
  deploymentBaseUrl
}: Pick<TestRunSummary, "baseUrl" | "deploymentBaseUrl">): boolean =>
  deploymentBaseUrl === null || isSameAddress(baseUrl, deploymentBaseUrl)
