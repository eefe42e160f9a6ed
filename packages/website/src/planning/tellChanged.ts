import { toast } from "../ui/toast.ts"

/** Says that a change is not taken back: it would take one of somebody else back, too. */
export const tellChanged = (what: string, why: string): void =>
  toast({ title: `${what} stays as it is`, detail: why, tone: "danger" })
