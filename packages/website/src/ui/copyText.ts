import { toast } from "./toast.ts"

/** Copies a text, and says what it was. */
export const copyText = (text: string, what: string): void =>
  void navigator.clipboard.writeText(text).then(
    () => toast({ title: `${what} copied`, detail: text }),
    () => toast({ title: "The browser did not allow it", detail: text, tone: "danger" })
  )
