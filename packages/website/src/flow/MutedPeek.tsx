import { Link } from "@tanstack/react-router"
import { actorName } from "../api/actors.ts"
import CaseHistory from "../runs/CaseHistory.tsx"
import { Facts } from "../ui/Facts.tsx"
import { Truncated } from "../ui/Truncated.tsx"
import { momentOf, type MutedTest } from "./mute.ts"
import { MuteEnd } from "./MuteEnd.tsx"

/** A muted test beside the list of muted tests: why and until when it is muted, and how it has done. */

interface Props {
  readonly slug: string
  readonly one: MutedTest
}

const MutedPeek = ({ one: { caseId, file, mute, title }, slug }: Props) => {
  const { product, ticket, until } = mute
  return (
    <>
      <div className="flex flex-col gap-1 px-4 py-3">
        <h2 className="foreign pr-8 font-semibold">{title}</h2>
        <p className="text-muted flex min-w-0">
          <Truncated text={file} />
        </p>
      </div>
      <Facts
        facts={[
          [
            "Muted by",
            ticket === null ? (
              "A ticket of a private team"
            ) : (
              <Link
                className="hover:underline"
                key="ticket"
                params={{ slug, ticket: ticket.identifier }}
                to="/w/$slug/tickets/$ticket"
              >
                {ticket.identifier} {ticket.title}
              </Link>
            )
          ],
          ...(ticket === null ? [] : [["Owner", ticket.owner === null ? "Nobody" : actorName(ticket.owner)] as const]),
          [
            "Until",
            <span key="until">
              {momentOf(until)}, <MuteEnd until={until} />
            </span>
          ]
        ]}
      />
      <CaseHistory caseId={caseId} product={product} slug={slug} />
    </>
  )
}

export default MutedPeek
