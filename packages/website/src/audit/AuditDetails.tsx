import type { AuditEntry } from "@delivery/domain/audit/Audit"
import { useEnvironmentName } from "../catalog/useEnvironmentName.ts"
import { changesText } from "../ui/Changes.tsx"
import { Facts } from "../ui/Facts.tsx"
import { namedChanges } from "../ui/namedChanges.ts"

/** What else is known of an entry of the audit than its line says. */

/** Credentials, and what stands in for one. */
const credentialKinds: Readonly<Record<NonNullable<AuditEntry["credential"]>["kind"], string>> = {
  accountApiKey: "account API key",
  agent: "sign-in of an agent",
  apiKey: "API key",
  ciToken: "token of a CI",
  deploymentToken: "deployment token",
  host: "a command on the server",
  report: "a report of the token",
  server: "the server itself",
  session: "session"
}

const credentialOf = ({ credential }: AuditEntry): string =>
  credential === null
    ? "none was shown"
    : [credentialKinds[credential.kind], credential.lastFour === "" ? "" : `…${credential.lastFour}`]
        .filter((one) => one !== "")
        .join(" ")

interface Props {
  readonly entry: AuditEntry
  readonly id: string
  readonly slug: string
}

const AuditDetails = ({ entry, id, slug }: Props) => {
  const changes = namedChanges(entry.changes ?? [], useEnvironmentName(slug))
  return (
    <div className="bg-sunken border-border border-b pl-4" id={id}>
      <Facts
        facts={[
          [
            "Action",
            <span className="font-mono text-xs" key="action">
              {entry.action}
            </span>
          ],
          ["Subject", `${entry.subject.label} (${entry.subject.type.replaceAll("_", " ")} ${entry.subject.id})`],
          ["Credential", credentialOf(entry)],
          ["Network address", entry.address ?? "none: it was the server itself"],
          ...(entry.secrets === undefined
            ? []
            : [["Secrets", entry.secrets.map(({ name, version }) => `${name} v${version}`).join(", ")] as const]),
          ...(entry.count === undefined ? [] : [["Times", String(entry.count)] as const]),
          ...(changes.length === 0 ? [] : [["Changes", changesText(changes)] as const]),
          ["Request", entry.requestId ?? "none"]
        ]}
      />
    </div>
  )
}

export default AuditDetails
