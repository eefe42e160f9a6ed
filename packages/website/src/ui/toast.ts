/** What has just happened, said at the edge of the page, with the way back where there is one. */

export interface Toast {
  readonly title: string
  readonly tone?: "plain" | "success" | "danger"
  readonly detail?: string | undefined
  /** What this title said could not be done has been done since: that is no longer shown. */
  readonly isMended?: boolean
  /** The id of the request that was refused. */
  readonly requestId?: string | undefined
  /** Takes it back. Answers what is true then; nothing where that was said already, or why it could not be. */
  readonly undo?: () => Promise<string | undefined>
  /** Where the person goes on from here. */
  readonly link?: { readonly href: string; readonly text: string } | undefined
}

/** What is said of an undo that says itself why it could not be done. */
export const undone = (doing: Promise<unknown>, said?: string): Promise<string | undefined> =>
  doing.then(
    () => said,
    () => undefined
  )

type Show = (toast: Toast) => void

let show: Show | undefined
const waiting: Array<Toast> = []

/** Tells it now, or as soon as the part of the page that shows toasts is there. */
export const toast: Show = (one) => (show === undefined ? void waiting.push(one) : show(one))

/** The part of the page that shows toasts. */
export const showToastsBy = (next: Show): (() => void) => {
  show = next
  for (const one of waiting.splice(0)) next(one)
  return () => {
    show = undefined
  }
}
