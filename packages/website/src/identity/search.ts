import type { WorkspaceCredential } from "@delivery/domain/identity/Credential"
import { type Address, oneAt, withoutUndefined } from "../ui/address.ts"

/** What stands in the addresses of the settings. */

export interface KeysSearch {
  /** Whose keys are shown; one's own unless told. */
  readonly of?: "workspace"
  /** What a new key is asked for that is made at once. */
  readonly for?: "steps"
}

export const readKeysSearch = (address: Address): KeysSearch =>
  withoutUndefined({ of: oneAt(address, "of", ["workspace"]), for: oneAt(address, "for", ["steps"]) })

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

export const readCredentialsSearch = (address: Address): CredentialsSearch =>
  withoutUndefined({
    kind: oneAt(address, "kind", Object.keys(credentialKinds) as Array<WorkspaceCredential["kind"]>),
    state: oneAt(address, "state", ["blocked"])
  })
