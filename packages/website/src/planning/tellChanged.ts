import { toast } from "../ui/toast.ts"

/** Says that a change is not taken back: it would take one of somebody else back, too. */
export const tellChanged = (what: string, why: string, isOne = true): void =>
  toast({ title: isOne ? `${what} stays as it is` : `${what} stay as they are`, detail: why, tone: "danger" })
