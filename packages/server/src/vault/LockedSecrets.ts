import type { EnvironmentId } from "@delivery/domain/Ids"
import type { LockedSecret, SecretRow, VersionPlace } from "./VaultRepo.ts"

/** Secrets with their current versions. */
export const lockedSecrets = (
  secrets: ReadonlyArray<SecretRow>,
  current: ReadonlyArray<VersionPlace>
): ReadonlyArray<LockedSecret> => {
  const versions = new Map(secrets.map(({ id }) => [id, new Map<EnvironmentId, number>()]))
  for (const row of current) versions.get(row.secretId)?.set(row.environmentId, row.version)
  return secrets.map((secret) => ({ ...secret, versions: versions.get(secret.id)! }))
}
