import type { IconName } from "../ui/Icon.tsx"

/** Where the sidebar, the palette and the `g` keys lead. Those of planning and agents come with their screens. */

interface Place {
  readonly to:
    | "/w/$slug"
    | "/w/$slug/test-runs"
    | "/w/$slug/tests"
    | "/w/$slug/trends"
    | "/w/$slug/deployments"
    | "/w/$slug/vault"
    | "/w/$slug/events"
    | "/w/$slug/settings/members"
    | "/w/$slug/settings/api-keys"
  readonly label: string
  readonly icon: IconName
  /** The second key of `g` and another. */
  readonly key?: string
  readonly group: "top" | "products" | "work" | "settings"
}

export const places: ReadonlyArray<Place> = [
  { to: "/w/$slug", label: "Home", icon: "home", key: "h", group: "top" },
  { to: "/w/$slug/test-runs", label: "Runs", icon: "runs", key: "r", group: "products" },
  { to: "/w/$slug/tests", label: "Tests", icon: "tests", key: "t", group: "products" },
  { to: "/w/$slug/trends", label: "Trends", icon: "trends", key: "s", group: "products" },
  { to: "/w/$slug/deployments", label: "Deployments", icon: "deployments", key: "d", group: "products" },
  { to: "/w/$slug/vault", label: "Vault", icon: "vault", key: "v", group: "products" },
  { to: "/w/$slug/events", label: "Events", icon: "events", key: "e", group: "work" },
  { to: "/w/$slug/settings/members", label: "Members", icon: "person", key: "m", group: "settings" },
  { to: "/w/$slug/settings/api-keys", label: "API keys", icon: "key", key: "k", group: "settings" }
]
