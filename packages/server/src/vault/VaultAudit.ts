import type { AuditAction } from "@delivery/domain/audit/AuditActions"
import type { Change } from "@delivery/domain/events/Event"
import type { SecretId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { Effect } from "effect"
import type { Access } from "../access/Access.ts"
import type { NewAuditEntry } from "../audit/Audit.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import type { EnvironmentPart, NewVersion } from "./VaultRepo.ts"

/** Entries of the audit: who reads or writes which versions. Never a value. */

/** The name of a secret for people, in events and in the audit. In SQL: `secret.name || ' of ' || product.name`. */
export const secretLabel = (name: string, product: { readonly name: string }): string => `${name} of ${product.name}`

/** The environments and versions of an entry about one secret. */
export const auditedVersions = (
  versions: ReadonlyArray<Pick<NewVersion, "environmentId" | "version">>,
  environments: ReadonlyArray<Pick<EnvironmentPart, "id" | "slug">>
): Pick<NewAuditEntry, "environments" | "versions"> => {
  const slugs = new Map(environments.map(({ id, slug }) => [id, slug]))
  const sorted = versions
    .map(({ environmentId, version }) => ({ slug: slugs.get(environmentId)!, version }))
    .toSorted((a, b) => compare(a.slug, b.slug))
  return { environments: sorted.map(({ slug }) => slug), versions: sorted.map(({ version }) => version) }
}

/** The entries of a write: one for each of its events, with its approvals. Those that tell of values name their versions. */
export const writeAudit =
  ({ audit }: VaultDependencies) =>
  (
    by: Access,
    events: ReadonlyArray<StoredEvent>,
    versions: ReadonlyArray<NewVersion>,
    environments: ReadonlyArray<EnvironmentPart>,
    approvals: ReadonlyArray<Change>
  ) => {
    const versionsOf = Map.groupBy(versions, ({ secretId }): string => secretId)
    return Effect.forEach(events, ({ changes, kind, subjectId, subjectLabel, subjectType }) =>
      audit.make(by, {
        action: kind as AuditAction,
        subject: { type: subjectType, id: subjectId as SecretId, label: subjectLabel },
        changes: [...(kind === "secret_renamed" ? changes : []), ...approvals],
        ...(kind === "secret_renamed" || kind === "secret_deleted"
          ? {}
          : auditedVersions(versionsOf.get(subjectId) ?? [], environments))
      })
    )
  }
