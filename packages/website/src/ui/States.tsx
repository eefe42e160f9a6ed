import type { ReactNode } from "react"
import { Icon, type IconName } from "./Icon.tsx"
import { later } from "./later.tsx"

/** What stands in place of content: not yet, or nothing. */

const Command = later(() => import("./Command.tsx"))

/** Rows as high as those that come. */
export const SkeletonRows = ({
  isTall,
  rows = 8
}: {
  readonly isTall?: boolean | undefined
  readonly rows?: number
}) => (
  <div aria-busy="true" aria-label="Loading" data-tall={isTall} role="status">
    {Array.from({ length: rows }, (_, row) => (
      <div className="border-border flex h-(--row) items-center gap-3 border-b px-4" key={row}>
        <Bone width="w-4" />
        <Bone width={["w-2/5", "w-1/3", "w-1/2"][row % 3]!} />
        <span className="flex-1" />
        <Bone width="w-16" />
      </div>
    ))}
  </div>
)

export const Bone = ({ width }: { readonly width: string }) => (
  <span className={`bg-hover animate-pulse inline-block h-3 rounded-sm ${width}`} />
)

interface EmptyProps {
  readonly icon: IconName
  /** One sentence: what this is for, or why nothing is here. */
  readonly title: string
  readonly children?: ReactNode
  /** The command that would fill it, ready to paste. */
  readonly command?: string
  readonly action?: ReactNode
}

export const Empty = ({ action, children, command, icon, title }: EmptyProps) => (
  <div className="mx-auto flex max-w-144 flex-col items-center gap-3 px-4 py-16 text-center">
    <span className="text-faint">
      <Icon name={icon} size={24} />
    </span>
    <h2 className="text-md font-medium">{title}</h2>
    {children !== undefined && <div className="text-muted">{children}</div>}
    {command !== undefined && <Command text={command} />}
    {action}
  </div>
)
