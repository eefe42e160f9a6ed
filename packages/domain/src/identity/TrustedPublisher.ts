import { Schema } from "effect"
import { Body, Exact } from "../Body.ts"
import { PersonId, TrustedPublisherId } from "../Ids.ts"
import { KeyScopes, Scope } from "../Scope.ts"
import { atLeast, atMost, HttpUrl, OneOf, undocumented, VisibleName } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Actor } from "./Actor.ts"

/** The most trusted publishers that a workspace can have. */
export const maxTrustedPublishers = 100

/** Milliseconds for which a key works that a token of a CI was exchanged for. */
export const exchangedKeyMillis = 15 * 60 * 1000

/** The issuers of tokens that every server knows. */
export const gitHubIssuer = "https://token.actions.githubusercontent.com"
export const gitLabIssuer = "https://gitlab.com"

/** Ids of GitHub and GitLab: an owner or a repository may take a name that another had, but never its number. */
const DecimalId = Schema.String.check(
  Schema.isPattern(/^[1-9][0-9]{0,19}$/, { message: "Expected a whole number, such as 710093112" })
)

const Workflow = VisibleName(200).check(
  Schema.isPattern(/^[^@*\\/][^@*\\]*\.ya?ml$/, {
    message: "Expected the name of a file that ends with .yml or .yaml, without @, * and backslashes"
  }),
  Schema.makeFilter<string>(
    (path) => path.split("/").every((part) => part !== "" && part !== "." && part !== "..") || "Expected a plain path"
  )
)

const Ref = Schema.String.check(
  atMost(300),
  Schema.isPattern(/^refs\/[^\s\p{C}~^:?*[\\]+$/u, { message: "Expected a complete ref, such as refs/heads/main" })
)

const described = {
  issuer: {
    description:
      "Who signs the tokens: GitHub (`https://token.actions.githubusercontent.com`), GitLab (`https://gitlab.com`), or an issuer that the operator of the server lists (`CI_ISSUERS`). `issuers` of the list names all."
  },
  repositoryId: {
    description: "The number of the repository (`repository_id`), or of GitLab's project (`project_id`), as text."
  },
  ownerId: {
    description:
      "The number of the repository's owner (`repository_owner_id`), or of GitLab's namespace (`namespace_id`), as text."
  },
  workflow: {
    description:
      "Of GitHub the name of the workflow's file in `.github/workflows`, such as `e2e.yml`. Of GitLab the path of the pipeline's file in the project, such as `.gitlab-ci.yml`."
  },
  ref: {
    description:
      "The complete ref on which the workflow must run, such as `refs/heads/main`; a branch of GitLab is `refs/heads/...`, too. Null: any."
  },
  environment: {
    description: "The environment of the CI in which the job must run, such as `production`. Null: any, and none."
  },
  allowPullRequests: {
    description:
      "Whether jobs of pull requests get a key, those of forks and `pull_request_target` included; of GitLab, pipelines of merge requests, and child pipelines, which may belong to one."
  }
}
const role = OneOf(["viewer", "member", "admin"]).annotate({ description: "The role of the keys in the workspace." })
const scopes = { description: "What the keys are limited to. Null: nothing, they have all scopes." }

const example = {
  issuer: gitHubIssuer,
  repositoryId: "710093112",
  ownerId: "9919421",
  workflow: "e2e.yml",
  ref: "refs/heads/main",
  environment: null,
  allowPullRequests: false,
  role: "member" as const,
  scopes: ["read", "publish"] as const
}

const publisher = {
  id: TrustedPublisherId.make("0197a1b2-0000-7000-8000-0000000000d1"),
  ...example,
  createdBy: {
    kind: "user" as const,
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
    name: "Ana Diaz",
    email: "ana@example.com"
  },
  createdAt: "2026-11-21T09:30:00.000Z",
  lastUsedAt: "2026-11-21T10:00:00.000Z",
  expiresAt: null
}

/** A workflow of a CI that gets keys of the workspace without having one (docs/contract.md, Trusted publishers). */
export const TrustedPublisher = Schema.Struct({
  id: TrustedPublisherId,
  issuer: Schema.String.annotate(described.issuer),
  repositoryId: Schema.String.annotate(described.repositoryId),
  ownerId: Schema.String.annotate(described.ownerId),
  workflow: Schema.String.annotate(described.workflow),
  ref: Schema.NullOr(Schema.String).annotate(described.ref),
  environment: Schema.NullOr(Schema.String).annotate(described.environment),
  allowPullRequests: Schema.Boolean.annotate(described.allowPullRequests),
  role,
  scopes: KeyScopes.annotate(scopes),
  createdBy: Actor,
  createdAt: Timestamp,
  lastUsedAt: Schema.NullOr(Timestamp).annotate({ description: "When a token was last exchanged; null if never." }),
  expiresAt: Schema.NullOr(Timestamp).annotate({
    description: "When the API key ends that it was made with, and it with that; null if it does not end by itself."
  })
}).annotate({
  identifier: "TrustedPublisher",
  description: "A workflow of a CI whose tokens can be exchanged for keys of the workspace.",
  examples: [publisher]
})
export type TrustedPublisher = typeof TrustedPublisher.Type

/** The trusted publishers of a workspace, and whose tokens the server takes. */
export const TrustedPublishers = Schema.Struct({
  trustedPublishers: Schema.Array(TrustedPublisher),
  issuers: Schema.Array(Schema.String).annotate({
    description: "The issuers whose tokens this server takes: GitHub, GitLab, and those that its operator lists."
  })
}).annotate({
  identifier: "TrustedPublishers",
  description: "Trusted publishers, newest first.",
  examples: [{ trustedPublishers: [publisher], issuers: [gitHubIssuer, gitLabIssuer] }]
})
export type TrustedPublishers = typeof TrustedPublishers.Type

/** GitHub has all workflows in one folder, and its tokens are compared by the name: a path would match none. */
const isNameOfGitHub = Schema.makeFilter<{ readonly issuer: string; readonly workflow: string }>(
  ({ issuer, workflow }) =>
    issuer !== gitHubIssuer ||
    !workflow.includes("/") || {
      path: ["workflow"],
      issue: "Expected the name of the file in .github/workflows, without the folder"
    },
  { toJsonSchema: undocumented }
)

export const CreateTrustedPublisher = Exact({
  issuer: HttpUrl.annotate(described.issuer),
  repositoryId: DecimalId.annotate(described.repositoryId),
  ownerId: DecimalId.annotate(described.ownerId),
  workflow: Workflow.annotate(described.workflow),
  ref: Schema.optionalKey(Schema.NullOr(Ref).annotate(described.ref)),
  environment: Schema.optionalKey(Schema.NullOr(VisibleName(255)).annotate(described.environment)),
  allowPullRequests: Schema.optionalKey(
    Schema.Boolean.annotate({ description: `${described.allowPullRequests.description} Omitted: false.` })
  ),
  role,
  scopes: Schema.NullOr(
    Schema.Array(Scope).check(Schema.isMinLength(1, { message: "Expected at least one scope" }))
  ).annotate(scopes)
})
  .check(isNameOfGitHub)
  .annotate({
    identifier: "CreateTrustedPublisher",
    description: "Which workflow to trust, and what its keys may do.",
    examples: [example]
  })
export type CreateTrustedPublisher = typeof CreateTrustedPublisher.Type

/** A key that a token of a CI was exchanged for. */
export const ExchangedKey = Schema.Struct({
  apiKey: Schema.String.annotate({ description: "An account API key of the workspace. It is shown only here." }),
  expiresAt: Timestamp,
  role,
  scopes: KeyScopes.annotate(scopes)
}).annotate({
  identifier: "ExchangedKey",
  description: "An account API key that works for 15 minutes, and what it may do.",
  examples: [
    {
      apiKey: "ctk_Zk3LTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H0Pq7",
      expiresAt: "2026-11-21T09:45:00.000Z",
      role: "member",
      scopes: ["read", "publish"]
    }
  ]
})
export type ExchangedKey = typeof ExchangedKey.Type

export const ExchangeToken = Body({
  workspace: Schema.String.check(atLeast(1), atMost(200)).annotate({ description: "The workspace's slug or id." }),
  token: Schema.String.check(atLeast(1), atMost(16_384)).annotate({
    description:
      "The ID token (a JWT) that the CI gave the job. Its audience (`aud`) must be the address of this server (`BASE_URL`)."
  })
}).annotate({
  identifier: "ExchangeToken",
  description: "A workspace, and a token of a CI.",
  examples: [{ workspace: "main", token: "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJhdWQiOiIuLi4ifQ.c2lnbmF0dXJl" }]
})
export type ExchangeToken = typeof ExchangeToken.Type
