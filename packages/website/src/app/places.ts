import type { Role } from "@delivery/domain/identity/Role"
import type { IconName } from "../ui/Icon.tsx"

/** Where the sidebar, the palette and the `g` keys lead. Those of planning and agents come with their screens. */

export interface Place {
  readonly to:
    | "/w/$slug"
    | "/w/$slug/inbox"
    | "/w/$slug/tickets"
    | "/w/$slug/projects"
    | "/w/$slug/teams"
    | "/w/$slug/test-runs"
    | "/w/$slug/tests"
    | "/w/$slug/trends"
    | "/w/$slug/deployments"
    | "/w/$slug/vault"
    | "/w/$slug/semaphores"
    | "/w/$slug/agents"
    | "/w/$slug/events"
    | "/w/$slug/audit"
    | "/w/$slug/webhooks"
    | "/w/$slug/settings"
    | "/w/$slug/settings/profile"
    | "/w/$slug/settings/members"
    | "/w/$slug/settings/api-keys"
    | "/w/$slug/settings/credentials"
    | "/w/$slug/settings/trusted-publishers"
  readonly label: string
  readonly icon: IconName
  /** The second key of `g` and another. */
  readonly key?: string
  readonly group: "top" | "products" | "work" | "settings"
  /** Of what others could see nothing. */
  readonly isForAdmins?: true
}

const places: ReadonlyArray<Place> = [
  { to: "/w/$slug", label: "Home", icon: "home", key: "h", group: "top" },
  { to: "/w/$slug/inbox", label: "Inbox", icon: "inbox", key: "i", group: "top" },
  { to: "/w/$slug/tickets", label: "Tickets", icon: "ticket", key: "b", group: "top" },
  { to: "/w/$slug/projects", label: "Projects", icon: "project", key: "o", group: "top" },
  { to: "/w/$slug/teams", label: "Teams", icon: "people", key: "n", group: "top" },
  { to: "/w/$slug/test-runs", label: "Runs", icon: "runs", key: "r", group: "products" },
  { to: "/w/$slug/tests", label: "Tests", icon: "tests", key: "t", group: "products" },
  { to: "/w/$slug/trends", label: "Trends", icon: "trends", key: "s", group: "products" },
  { to: "/w/$slug/deployments", label: "Deployments", icon: "deployments", key: "d", group: "products" },
  { to: "/w/$slug/vault", label: "Vault", icon: "vault", key: "v", group: "products" },
  { to: "/w/$slug/semaphores", label: "Semaphores", icon: "semaphores", key: "l", group: "products" },
  { to: "/w/$slug/agents", label: "Agents", icon: "agent", key: "a", group: "work" },
  { to: "/w/$slug/events", label: "Events", icon: "events", key: "e", group: "work" },
  { to: "/w/$slug/audit", label: "Audit", icon: "audit", key: "u", group: "work", isForAdmins: true },
  { to: "/w/$slug/webhooks", label: "Webhooks", icon: "webhooks", key: "w", group: "work", isForAdmins: true },
  { to: "/w/$slug/settings", label: "Workspace", icon: "settings", key: ",", group: "settings" },
  { to: "/w/$slug/settings/profile", label: "Profile", icon: "person", key: "p", group: "settings" },
  { to: "/w/$slug/settings/members", label: "Members", icon: "people", key: "m", group: "settings" },
  { to: "/w/$slug/settings/api-keys", label: "API keys", icon: "key", key: "k", group: "settings" },
  {
    to: "/w/$slug/settings/credentials",
    label: "Credentials",
    icon: "lock",
    group: "settings",
    isForAdmins: true
  },
  {
    to: "/w/$slug/settings/trusted-publishers",
    label: "Trusted publishers",
    icon: "publishers",
    group: "settings",
    isForAdmins: true
  }
]

/** Those of a role. While that is not known, all: nothing moves when an admin's is. */
export const placesOf = (role: Role | undefined): ReadonlyArray<Place> =>
  role === "viewer" || role === "member" ? places.filter(({ isForAdmins }) => isForAdmins !== true) : places
