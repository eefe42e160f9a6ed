import { Time } from "../ui/Time.tsx"

/** When a mute ends or has ended, alike wherever it is said: "ends in 2d", "ended 5m ago". */
export const MuteEnd = ({ until }: { readonly until: string }) => (
  <span>
    {Date.parse(until) > Date.now() ? "ends" : "ended"} <Time at={until} />
  </span>
)
