import type { WorkspaceCredential } from "@delivery/domain/identity/Credential"

/** What stands in the addresses of the settings. */

export interface KeysSearch {
  /** Whose keys are shown; one's own unless told. */
  readonly of?: "workspace"
}

export const readKeysSearch = (search: Readonly<Record<string, unknown>>): KeysSearch =>
  search["of"] === "workspace" ? { of: "workspace" } : {}

/** What a credential is, in words. */
export const credentialKinds: Readonly<Record<WorkspaceCredential["kind"], string>> = {
  apiKey: "API key",
  accountApiKey: "key of the workspace",
  session: "session",
  agent: "agent",
  deploymentToken: "deployment token"
}

export interface CredentialsSearch {
  readonly kind?: WorkspaceCredential["kind"]
  readonly state?: "blocked"
}

const isKind = (value: unknown): value is WorkspaceCredential["kind"] =>
  typeof value === "string" && Object.hasOwn(credentialKinds, value)

export const readCredentialsSearch = ({ kind, state }: Readonly<Record<string, unknown>>): CredentialsSearch => ({
  ...(isKind(kind) ? { kind } : {}),
  ...(state === "blocked" ? { state } : {})
})
