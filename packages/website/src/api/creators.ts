import type { IconName } from "../ui/Icon.tsx"
import { currentKeys } from "../ui/keys.ts"

/** What is made on a screen of its own, and begun from anywhere: the screen is opened, then its key pressed. */

interface Creator {
  /** What the key of the screen is called there. */
  readonly label: string
  /** The address of the screen behind that of the workspace. */
  readonly at: string
  readonly icon: IconName
  readonly least: "viewer" | "member" | "admin"
  /** By which it is found, besides. */
  readonly words?: string
}

export const creators: ReadonlyArray<Creator> = [
  { label: "Add a secret", at: "vault", icon: "vault", least: "member", words: "new create" },
  { label: "Paste a .env file", at: "vault", icon: "vault", least: "member", words: "import secrets" },
  { label: "Add a project", at: "projects", icon: "project", least: "member", words: "new create" },
  { label: "Add a team", at: "teams", icon: "people", least: "admin", words: "new create" },
  { label: "Add a product", at: "deployments", icon: "deployments", least: "admin", words: "new create" },
  { label: "Add an environment", at: "deployments", icon: "deployments", least: "admin", words: "new create" },
  { label: "New test rule", at: "test-rules", icon: "tests", least: "member", words: "add create" },
  { label: "New webhook", at: "webhooks", icon: "webhooks", least: "admin", words: "add create" },
  { label: "Connect an agent", at: "agents", icon: "agent", least: "viewer", words: "add new mcp" },
  { label: "New API key", at: "settings/api-keys", icon: "key", least: "viewer", words: "add create token" },
  { label: "Invite somebody", at: "settings/members", icon: "people", least: "admin", words: "add new member" },
  { label: "Trust a workflow", at: "settings/trusted-publishers", icon: "publishers", least: "admin", words: "add new" }
]

/** For so long the screen may take to come. After that it is there with its button, and nothing opens by itself. */
const comesMillis = 30_000

/** Presses the key of that name as soon as the screen at this path has it; not where another place was gone to meanwhile. */
export const pressWhenThere = (path: string, label: string): void => {
  const until = performance.now() + comesMillis
  const look = () => {
    const isThere = location.pathname === path
    const key = isThere ? currentKeys().find((one) => one.label === label) : undefined
    if (key !== undefined) return key.run()
    if (performance.now() < until) requestAnimationFrame(look)
  }
  look()
}
