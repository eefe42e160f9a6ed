import { useQuery } from "@tanstack/react-query"
import type { ListedSession } from "@delivery/domain/auth/Session"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { useMe } from "../api/session.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { buttonClass } from "../ui/Button.tsx"
import { Facts } from "../ui/Facts.tsx"
import { Header } from "../ui/Header.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { Section } from "../ui/Section.tsx"
import { Since } from "../ui/Since.tsx"
import Command from "../ui/Command.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { methodsQuery, sessionsQuery } from "./queries.ts"
import { WaysIn } from "./WaysIn.tsx"

/** Who one is here, how one signs in, and where one is signed in. */

const methodWords: Readonly<Record<ListedSession["method"], string>> = {
  link: "a link",
  mail: "an email",
  passkey: "a passkey",
  oidc: "single sign-on",
  github: "GitHub",
  invite: "an invite"
}

const SessionRow = ({ session }: { readonly session: ListedSession }) => {
  const device = session.device
  const end = useAction({
    act: () => client.auth.endSession({ params: { session: session.id } }),
    done: () => ({ title: `The session of ${device} has ended` }),
    changes: [sessionsQuery.queryKey]
  })
  return (
    <Item
      actions={
        !session.current && (
          <Sure
            action="End session"
            doing={end}
            subject={`the session of ${device}`}
            title={`End the session of ${device}?`}
            verb="End"
          >
            <p>Whoever uses it is signed out. What they have typed and not saved there may be lost.</p>
          </Sure>
        )
      }
      badges={session.current && <Badge tone="accent">this one</Badge>}
      detail={`by ${methodWords[session.method]}, from ${session.address}`}
      name={session.device}
    >
      <Cell>
        <Since at={session.lastSeenAt} never="" word="seen" />
      </Cell>
      <Cell>
        <Since at={session.expiresAt} never="" word="ends" />
      </Cell>
    </Item>
  )
}

const Sessions = () => {
  const query = useQuery(sessionsQuery)
  const endOthers = useAction({
    act: () => client.auth.endOtherSessions({}),
    done: () => ({ title: "All other sessions have ended" }),
    changes: [sessionsQuery.queryKey]
  })
  return (
    <Section
      actions={
        (query.data?.sessions.length ?? 0) > 1 && (
          <Sure
            action="End sessions"
            doing={endOthers}
            subject="sessions"
            title="End all other sessions?"
            verb="End all others"
          >
            <p>You stay signed in here alone. What is typed and not saved elsewhere may be lost.</p>
          </Sure>
        )
      }
      isFlush
      title="Where you are signed in"
    >
      <Loaded query={query} rows={2}>
        {({ sessions }) => (
          <ul aria-label="Sessions">
            {sessions.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  )
}

/** How an address is proven here: by mail, or by whoever runs a service that sends none. */
const Verify = ({ email }: { readonly email: string }) => {
  const { data: methods } = useQuery(methodsQuery)
  if (methods === undefined) return null
  if (methods.mail) {
    return (
      <a className={buttonClass("plain")} href="/sign-in">
        Verify it
      </a>
    )
  }
  return (
    <div className="flex min-w-0 basis-full flex-col gap-1 py-1">
      <p className="text-muted">This service sends no mail. Who runs it can verify the address, on its host:</p>
      <Command text={`pnpm delivery person verify ${email}`} />
    </div>
  )
}

const You = () => {
  const me = useMe()
  if (me === undefined || me.kind !== "user") return <SkeletonRows rows={2} />
  return (
    <Facts
      facts={[
        ["Name", me.name],
        [
          "Email address",
          <span className="flex flex-wrap items-center gap-2" key="address">
            <span className="foreign">{me.email}</span>
            {me.emailVerifiedAt === null ? (
              <>
                <Badge tone="warning">not verified</Badge>
                <Verify email={me.email} />
              </>
            ) : (
              <Badge tone="success">verified</Badge>
            )}
          </span>
        ]
      ]}
    />
  )
}

const ProfileScreen = () => (
  <>
    <Header crumbs={[]} title="Profile" />
    <You />
    <WaysIn />
    <Sessions />
  </>
)

export default ProfileScreen
