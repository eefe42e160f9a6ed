import type { TrustedPublisher } from "@delivery/domain/identity/TrustedPublisher"
import type { Lines } from "../ui/Ways.tsx"

/** What goes into the workflow of a trusted publisher, as docs/ci.md has it. Pure. */

interface Target {
  readonly serviceUrl: string
  readonly slug: string
  readonly product: string
  readonly environment: string
}

export const gitHub = "https://token.actions.githubusercontent.com"
export const gitLab = "https://gitlab.com"

/** What an issuer is called. */
export const issuerName = (issuer: string): string =>
  issuer === gitHub ? "GitHub" : issuer === gitLab ? "GitLab" : issuer

const gitHubLines = ({ environment, product, serviceUrl, slug }: Target): ReadonlyArray<Lines> => [
  {
    label: ".github/workflows/e2e.yml",
    text: `name: e2e
on:
  push:
    branches: [main]
permissions:
  contents: read
  id-token: write
env:
  DELIVERY_URL: ${serviceUrl}
  DELIVERY_WORKSPACE: ${slug}
  DELIVERY_PRODUCT: ${product}
  DELIVERY_ENVIRONMENT: ${environment}
jobs:
  e2e:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: 24
      - run: npm ci
      # The reporter @delivery/playwright, in playwright.config.ts, publishes the run.
      - run: npx playwright test`
  }
]

const gitLabLines = ({ environment, product, serviceUrl, slug }: Target): ReadonlyArray<Lines> => [
  {
    label: ".gitlab-ci.yml",
    text: `e2e:
  image: mcr.microsoft.com/playwright:v1.65.1
  rules:
    - if: $CI_COMMIT_BRANCH == "main"
  variables:
    DELIVERY_URL: ${serviceUrl}
    DELIVERY_WORKSPACE: ${slug}
    DELIVERY_PRODUCT: ${product}
    DELIVERY_ENVIRONMENT: ${environment}
  id_tokens:
    DELIVERY_ID_TOKEN:
      aud: ${serviceUrl}
  script:
    - npm ci
    - npx playwright test`
  }
]

/** The ways of both kinds of CI, that of the publisher first. */
export const workflowWays = (target: Target, issuer?: TrustedPublisher["issuer"]) => {
  const ways = [
    { name: "GitHub Actions", lines: gitHubLines(target) },
    { name: "GitLab", lines: gitLabLines(target) }
  ]
  return issuer === undefined || issuer === gitHub ? ways : ways.toReversed()
}
