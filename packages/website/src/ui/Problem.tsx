import type { ReactNode } from "react"
import { Button } from "./Button.tsx"
import { Icon } from "./Icon.tsx"

interface ProblemProps {
  /** What happened, as the server says it. */
  readonly title: string
  /** What it means, and what to do. */
  readonly children?: ReactNode
  readonly requestId?: string | undefined
  readonly onRetry?: (() => void) | undefined
}

/** In place of content: why it is not there. */
export const Problem = ({ children, onRetry, requestId, title }: ProblemProps) => (
  <div className="mx-auto flex max-w-144 flex-col items-center gap-3 px-4 py-16 text-center" role="alert">
    <span className="text-danger">
      <Icon name="warning" size={24} />
    </span>
    <h2 className="text-md foreign font-medium">{title}</h2>
    {children !== undefined && <div className="text-muted">{children}</div>}
    {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    {requestId !== undefined && (
      <p className="text-faint text-xs">
        Request <span className="font-mono">{requestId}</span>
      </p>
    )}
  </div>
)
