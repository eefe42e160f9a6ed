import { splitEnd } from "./format.ts"

/** A path or branch whose end matters: it is cut in the middle, and whole on hover. */
export const Truncated = ({ isMono = true, text }: { readonly isMono?: boolean; readonly text: string }) => {
  const [start, end] = splitEnd(text)
  return (
    <span className={`inline-flex min-w-0 ${isMono ? "whole-letters font-mono text-xs" : "max-w-full"}`} title={text}>
      <span className="min-w-4 shrink-[9999] truncate whitespace-pre empty:hidden">{start}</span>
      <span className="min-w-0 truncate whitespace-pre">{end}</span>
    </span>
  )
}
