import { useInfiniteQuery } from "@tanstack/react-query"
import { useParams, useSearch } from "@tanstack/react-router"
import { actorName } from "../api/actors.ts"
import { ForAdmins } from "../api/ForAdmins.tsx"
import { Loaded } from "../api/Loaded.tsx"
import { Header } from "../ui/Header.tsx"
import { later } from "../ui/later.tsx"
import { Older } from "../ui/Older.tsx"
import { AuditFilterBar } from "./AuditFilterBar.tsx"
import { AuditList } from "./AuditList.tsx"
import { isFiltered } from "./filters.ts"
import { auditQuery } from "./queries.ts"

const NoEntries = later(() => import("./NoEntries.tsx"))

/** Who did what, with which credential and from where, newest first. */

const List = ({ slug }: { readonly slug: string }) => {
  const filters = useSearch({ from: "/w/$slug/audit" })
  const query = useInfiniteQuery(auditQuery(slug, filters))
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? []
  const nameOf = (id: string) => {
    for (const { actor, subject } of entries) {
      if (subject.id === id) return subject.label.slice(0, 80)
      if (actor.kind !== "removed" && actor.id === id) return actorName(actor)
    }
    return undefined
  }
  return (
    <>
      <AuditFilterBar filters={filters} nameOf={nameOf} slug={slug} />
      <Loaded query={query} rows={14}>
        {() =>
          entries.length === 0 ? (
            <NoEntries isFiltered={isFiltered(filters)} slug={slug} />
          ) : (
            <>
              <AuditList entries={entries} slug={slug} />
              <Older noun="entries" query={query} />
            </>
          )
        }
      </Loaded>
    </>
  )
}

const AuditScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/audit" })
  return (
    <>
      <Header crumbs={[]} title="Audit" />
      <ForAdmins slug={slug} subject="The audit is">
        <List slug={slug} />
      </ForAdmins>
    </>
  )
}

export default AuditScreen
