import type { Repository, TrustedPublisherRow } from "../identity/TrustedPublishersRepo.ts"

/**
 * What the ID tokens of GitHub Actions and GitLab CI say of a job. Names can be taken by others, and `sub` has the form that
 * an organisation chooses: repository and owner are told by their numbers alone.
 */

/** A job of a CI. */
export interface CiJob extends Repository, Pick<TrustedPublisherRow, "workflow"> {
  /** The repository's name at that time, for people. */
  readonly repository: string
  readonly ref: string
  readonly environment: string | null
  readonly isPullRequest: boolean
  /** Whether names of environments are the same in any case. */
  readonly isCaseIgnored: boolean
}

type Claims = Readonly<Record<string, unknown>>

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/** The job that the claims of a token describe; undefined where they describe none. */
export const jobOf = (issuer: string, claims: Claims): CiJob | undefined =>
  text(claims["workflow_ref"]) === undefined ? ofGitLab(issuer, claims) : ofGitHub(issuer, claims)

/** `octo/shop/.github/workflows/e2e.yml@refs/heads/main`. One of another repository is none of this one. */
const ofGitHub = (issuer: string, claims: Claims): CiJob | undefined => {
  const [repositoryId, ownerId] = [text(claims["repository_id"]), text(claims["repository_owner_id"])]
  const [repository, ref, event] = [text(claims["repository"]), text(claims["ref"]), text(claims["event_name"])]
  const [, of, workflow] = /^(.+)\/\.github\/workflows\/([^/@]+)@/.exec(String(claims["workflow_ref"])) ?? []
  if (repositoryId === undefined || ownerId === undefined || repository === undefined) return undefined
  if (ref === undefined || event === undefined || workflow === undefined || of !== repository) return undefined
  return {
    issuer,
    repositoryId,
    ownerId,
    workflow,
    repository,
    ref,
    environment: text(claims["environment"]) ?? null,
    // Of a review or a comment on one, too.
    isPullRequest: /^pull_request/i.test(event),
    isCaseIgnored: true
  }
}

/** What starts pipelines of merge requests. A child pipeline does not say whether its parent is one. */
const mergeRequests = new Set(["merge_request_event", "external_pull_request_event", "parent_pipeline"])

/** `gitlab.com/octo/shop//.gitlab-ci.yml@refs/heads/main` */
const ofGitLab = (issuer: string, claims: Claims): CiJob | undefined => {
  const [repositoryId, ownerId] = [text(claims["project_id"]), text(claims["namespace_id"])]
  const [repository, source] = [text(claims["project_path"]), text(claims["pipeline_source"])]
  const [, of, workflow] = /^([^@]+?)\/\/([^@]+)@/.exec(String(claims["ci_config_ref_uri"])) ?? []
  const ref = refOf(claims)
  if (repositoryId === undefined || ownerId === undefined || repository === undefined) return undefined
  if (ref === undefined || source === undefined || workflow === undefined) return undefined
  if (!of!.endsWith(`/${repository}`)) return undefined
  return {
    issuer,
    repositoryId,
    ownerId,
    workflow,
    repository,
    ref,
    environment: text(claims["environment"]) ?? null,
    isPullRequest: mergeRequests.has(source) || ref.startsWith("refs/merge-requests/"),
    isCaseIgnored: false
  }
}

/** GitLab says the name of a branch or tag, and newer versions the complete ref, too. */
const refOf = (claims: Claims): string | undefined => {
  const [path, ref] = [text(claims["ref_path"]), text(claims["ref"])]
  if (path !== undefined) return path
  if (ref === undefined || ref.startsWith("refs/")) return ref
  return claims["ref_type"] === "tag" ? `refs/tags/${ref}` : `refs/heads/${ref}`
}

/** The first condition of a publisher of the same repository that a job does not meet. */
export const unmetBy = (
  publisher: Pick<TrustedPublisherRow, "workflow" | "ref" | "environment" | "allowPullRequests">,
  job: CiJob
): "workflow" | "ref" | "environment" | "pull_request" | undefined => {
  const nameOf = (environment: string | null) => (job.isCaseIgnored ? environment?.toLowerCase() : environment)
  if (publisher.workflow !== job.workflow) return "workflow"
  if (publisher.ref !== null && publisher.ref !== job.ref) return "ref"
  if (publisher.environment !== null && nameOf(publisher.environment) !== nameOf(job.environment)) return "environment"
  return job.isPullRequest && !publisher.allowPullRequests ? "pull_request" : undefined
}
