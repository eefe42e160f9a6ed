import { Link } from "@tanstack/react-router"
import { Icon } from "../ui/Icon.tsx"
import { EnvironmentName } from "./EnvironmentName.tsx"

interface Props {
  readonly slug: string
  readonly environment: Parameters<typeof EnvironmentName>[0]["environment"] & {
    readonly slug: string
    readonly approvals?: boolean
  }
}

/** An environment by name, which leads to its page, with a sign where writes need the approval of a second person. */
const EnvironmentLink = ({ environment, slug }: Props) => (
  <Link
    className="hover:text-text inline-flex max-w-full min-w-0 items-center gap-1.5 hover:underline"
    params={{ slug, _splat: `environments/${environment.slug}` }}
    to="/w/$slug/$"
  >
    <EnvironmentName environment={environment} />
    {environment.approvals === true && (
      <span
        className="bg-warning-soft text-warning inline-flex h-5 shrink-0 items-center rounded-sm px-1"
        title="Writes need the approval of another admin"
      >
        <Icon name="people" size={12} />
        <span className="sr-only">(needs approvals)</span>
      </span>
    )}
  </Link>
)

export default EnvironmentLink
