import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { Loaded } from "../api/Loaded.tsx"
import { Button, IconButton } from "../ui/Button.tsx"
import { Header, tabClass, Tabs } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Rows } from "../ui/Rows.tsx"
import { Time } from "../ui/Time.tsx"
import { type InboxRow, lineOf, type Notice, rowsOf } from "./inbox.ts"
import { useNotices } from "./useNotices.ts"
import { useReading } from "./useReading.ts"

/** What concerns the person, by ticket: assignments, mentions, comments, and what agents said. The keyboard alone empties it. */

const ApprovalsWaiting = later(() => import("./ApprovalRows.tsx"))
const InboxEmpty = later(() => import("./InboxEmpty.tsx"))
const NotificationPeek = later(() => import("./NotificationPeek.tsx"))

interface RowProps {
  readonly isCurrent: boolean
  readonly onOpened: (one: Notice) => void
  readonly onRead: (one: Notice) => void
  readonly onUnread: (one: Notice) => void
  readonly row: InboxRow
  readonly slug: string
}

const Row = ({ isCurrent, onOpened, onRead, onUnread, row, slug }: RowProps) => {
  if (row.kind === "ticket") {
    return (
      <h2 className="border-border bg-sunken flex h-(--row) items-center gap-2 border-b px-4">
        <Link
          className="foreign min-w-0 truncate font-medium hover:underline"
          params={{ slug, ticket: row.identifier }}
          to="/w/$slug/tickets/$ticket"
        >
          <span className="text-muted tabular mr-1 font-normal">{row.identifier}</span> {row.title}
        </Link>
      </h2>
    )
  }
  const { one } = row
  const isUnread = one.readAt === null
  return (
    <div
      className={`border-border hover:bg-hover flex h-(--row) items-center gap-2 border-b pr-2 pl-4 ${isCurrent ? "bg-selected" : ""}`}
    >
      <Link
        className="two-lines flex min-w-0 flex-1 items-center gap-2 self-stretch"
        onClick={() => onOpened(one)}
        hash={one.at ?? ""}
        params={{ slug, ticket: one.ticket.identifier }}
        tabIndex={-1}
        to="/w/$slug/tickets/$ticket"
      >
        <span className={`size-2 shrink-0 rounded-full ${isUnread ? "bg-accent-fill" : ""}`}>
          {isUnread && <span className="sr-only">unread</span>}
        </span>
        <span className={`foreign shrink-0 max-sm:col-span-2 max-sm:truncate ${isUnread ? "font-medium" : ""}`}>
          {one.what}
        </span>
        <span className="text-muted foreign min-w-0 flex-1 truncate max-sm:col-start-2">{lineOf(one.said)}</span>
        <span className="text-muted max-sm:col-start-3">
          <Time at={one.createdAt} />
        </span>
      </Link>
      <IconButton
        icon={isUnread ? "check" : "dash"}
        isSmall
        label={`Mark ${isUnread ? "read" : "unread"}: ${one.what}`}
        onClick={() => (isUnread ? onRead : onUnread)(one)}
      />
    </div>
  )
}

interface ListProps {
  readonly notices: ReadonlyArray<Notice>
  readonly onMore: () => void
  readonly slug: string
}

const List = ({ notices, onMore, slug }: ListProps) => {
  const navigate = useNavigate()
  const { opened, read, unread } = useReading(slug)
  const [current, setCurrent] = useState(-1)
  const rows = rowsOf(notices)
  const oneAt = (index: number) => {
    const row = rows[index]
    return row?.kind === "notification" ? row.one : undefined
  }
  const withCurrent = (act: (one: Notice) => void) => () => {
    const one = oneAt(Math.min(current, rows.length - 1))
    if (one !== undefined) act(one)
  }
  useKeys([
    { keys: "e", label: "Mark read", group: "Inbox", run: withCurrent((one) => void read(one)) },
    { keys: "u", label: "Mark unread", group: "Inbox", run: withCurrent(unread) }
  ])
  return (
    <Rows
      count={rows.length}
      isChoosable={(index) => rows[index]?.kind === "notification"}
      isTall
      keyOf={(index) => rows[index]!.key}
      label="Notifications"
      noun="notification"
      onCurrent={setCurrent}
      onNearEnd={onMore}
      onOpen={(index) => {
        const one = oneAt(index)
        if (one === undefined) return
        opened(one)
        void navigate({
          to: "/w/$slug/tickets/$ticket",
          params: { slug, ticket: one.ticket.identifier },
          hash: one.at ?? ""
        })
      }}
      peek={(index) => {
        const one = oneAt(index)
        return one === undefined ? undefined : <NotificationPeek one={one} />
      }}
      row={(index, isCurrent) => (
        <Row
          isCurrent={isCurrent}
          onOpened={opened}
          onRead={(one) => void read(one)}
          onUnread={unread}
          row={rows[index]!}
          slug={slug}
        />
      )}
    />
  )
}

const InboxScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/inbox" })
  const { view } = useSearch({ from: "/w/$slug/inbox" })
  const unread = useNotices(slug)
  const { notices, onMore, query } = useNotices(slug, view !== "all")
  const { readAll } = useReading(slug)
  const markAll = () => void readAll(unread.notices, unread.count)
  useKeys([{ keys: "E", label: "Mark all read", group: "Inbox", run: markAll }])
  return (
    <>
      <Header
        actions={
          unread.count > 0 && (
            <Button onClick={markAll} shortcut="E">
              Mark all read
            </Button>
          )
        }
        crumbs={[]}
        title="Inbox"
      />
      <Tabs label="Views of the inbox">
        <Link activeOptions={{ exact: true }} className={tabClass} params={{ slug }} search={{}} to="/w/$slug/inbox">
          Unread
          {unread.count > 0 && <span className="text-muted tabular text-xs font-normal">{unread.counted}</span>}
        </Link>
        <Link
          activeOptions={{ exact: true }}
          className={tabClass}
          params={{ slug }}
          search={{ view: "all" }}
          to="/w/$slug/inbox"
        >
          All
        </Link>
      </Tabs>
      <ApprovalsWaiting slug={slug} />
      <Loaded<unknown> isTall query={query} rows={8}>
        {() =>
          notices.length === 0 ? <InboxEmpty slug={slug} /> : <List notices={notices} onMore={onMore} slug={slug} />
        }
      </Loaded>
    </>
  )
}

export default InboxScreen
