import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import type { Member } from "@delivery/domain/identity/Member"
import type { Invite } from "@delivery/domain/identity/Invite"
import { lazy, Suspense, useState } from "react"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"
import { FailureView } from "../api/FailureView.tsx"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Menu } from "../ui/Menu.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/toast.ts"
import { invitesQuery, membersQuery } from "./queries.ts"

/** Who is in the workspace, with which role, and who is invited. */

const InviteDialog = lazy(() => import("./InviteDialog.tsx"))

const roles = ["viewer", "member", "admin", "owner"] as const

interface RowProps {
  readonly member: Member
  readonly slug: string
  readonly isSelf: boolean
  readonly mayManage: boolean
}

/** What an admin does with a member, each with its way back. */
const useMemberActions = ({ member, slug }: Pick<RowProps, "member" | "slug">) => {
  const queries = useQueryClient()
  const params = { slug, member: member.id }
  const read = () => queries.invalidateQueries({ queryKey: workspaceKey(slug, "members") })
  const change = useMutation({
    mutationFn: async (next: { readonly role: Member["role"] } | { readonly active: boolean }): Promise<unknown> =>
      "role" in next
        ? client.members.update({ params, payload: { role: next.role } })
        : next.active
          ? client.members.reactivate({ params })
          : client.members.deactivate({ params, payload: {} }),
    onSettled: read
  })
  const setRole = (role: Member["role"]) =>
    change.mutate(
      { role },
      {
        onError: (error) => tellFailure(`${member.name} stays ${member.role}`, error),
        onSuccess: () =>
          toast({
            title: `${member.name} is ${role} now`,
            undo: () =>
              change.mutate({ role: member.role }, { onError: (error) => tellFailure("That was not undone.", error) })
          })
      }
    )
  const setActive = (active: boolean) =>
    change.mutate(
      { active },
      {
        onError: (error) => tellFailure(`${member.name} stays as they are`, error),
        onSuccess: () =>
          toast({
            title: active ? `${member.name} has access again` : `${member.name} has no access any more`,
            ...(active
              ? {}
              : { detail: "Account API keys that they made are revoked, and their pending invites ended." })
          })
      }
    )
  return { isBusy: change.isPending, setActive, setRole }
}

const MemberRow = ({ isSelf, mayManage, member, slug }: RowProps) => {
  const { setActive, setRole } = useMemberActions({ member, slug })
  return (
    <li className="border-border flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5">
      <span className="min-w-40 flex-1">
        <span className="flex items-center gap-2">
          <span className={`foreign truncate font-medium ${member.active ? "" : "text-muted"}`}>{member.name}</span>
          {isSelf && <Badge>you</Badge>}
          {!member.active && <Badge>no access</Badge>}
        </span>
        <span className="text-muted foreign block truncate text-xs">
          {member.email}
          {member.emailVerifiedAt === null && ", not verified"}
        </span>
      </span>
      <span className="text-muted max-sm:hidden">
        joined <Time at={member.joinedAt} />
      </span>
      {mayManage && !isSelf ? (
        <Menu
          groups={[
            {
              label: "Role",
              items: roles.map((role) => ({
                label: role,
                isChosen: role === member.role,
                onSelect: () => setRole(role)
              }))
            },
            {
              items: [
                member.active
                  ? {
                      label: "End access: their keys and agents stop",
                      isDangerous: true,
                      onSelect: () => setActive(false)
                    }
                  : { label: "Give access again", onSelect: () => setActive(true) }
              ]
            }
          ]}
          label={`Role of ${member.name}`}
          trigger={(props) => (
            <button
              {...props}
              aria-label={`${member.role}: change the role of ${member.name}`}
              className={buttonClass("quiet")}
              type="button"
            >
              {member.role}
              <Icon name="chevronDown" size={12} />
            </button>
          )}
        />
      ) : (
        <span className="text-muted px-2.5">{member.role}</span>
      )}
    </li>
  )
}

const InviteRow = ({ invite, slug }: { readonly invite: Invite; readonly slug: string }) => {
  const queries = useQueryClient()
  const revoke = useMutation({
    mutationFn: () => client.invites.revoke({ params: { slug, invite: invite.id } }),
    onSuccess: () => toast({ title: `The invite of ${invite.email} is revoked` }),
    onError: (error) => tellFailure("The invite is not revoked.", error),
    onSettled: () => queries.invalidateQueries({ queryKey: workspaceKey(slug, "invites") })
  })
  return (
    <li className="border-border flex min-h-(--row) flex-wrap items-center gap-x-3 border-b px-4 py-1">
      <span className="foreign min-w-40 flex-1 truncate">{invite.email}</span>
      <span className="text-muted">{invite.role}</span>
      <span className="text-muted">
        until <Time at={invite.expiresAt} />
      </span>
      <Button
        aria-label={`Revoke the invite of ${invite.email}`}
        isBusy={revoke.isPending}
        look="quiet"
        onClick={() => revoke.mutate()}
      >
        Revoke
      </Button>
    </li>
  )
}

const Invites = ({ slug }: { readonly slug: string }) => {
  const { data } = useQuery(invitesQuery(slug))
  const pending = (data?.invites ?? []).filter((one) => one.status === "pending")
  if (pending.length === 0) return null
  return (
    <section aria-label="Pending invites">
      <h2 className="text-muted border-border border-b px-4 pt-5 pb-1 text-xs font-medium">Pending invites</h2>
      <ul>
        {pending.map((invite) => (
          <InviteRow invite={invite} key={invite.id} slug={slug} />
        ))}
      </ul>
    </section>
  )
}

const MembersScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/settings/members" })
  const { data, error, refetch } = useQuery(membersQuery(slug))
  const me = useMe()
  const mayManage = mayAct(useRole(slug), "admin")
  const [isInviting, setInviting] = useState(false)
  return (
    <>
      <Header
        actions={
          mayManage && (
            <Button icon="plus" look="primary" onClick={() => setInviting(true)}>
              Invite
            </Button>
          )
        }
        crumbs={[]}
        title="Members"
      />
      {data !== undefined ? (
        <ul aria-label="Members">
          {data.members.map((member) => (
            <MemberRow
              isSelf={member.id === me?.id}
              key={member.id}
              mayManage={mayManage}
              member={member}
              slug={slug}
            />
          ))}
        </ul>
      ) : error !== null ? (
        <FailureView error={error} onRetry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={5} />
      )}
      {mayManage && <Invites slug={slug} />}
      {isInviting && (
        <Suspense fallback={null}>
          <InviteDialog onClose={() => setInviting(false)} slug={slug} />
        </Suspense>
      )}
    </>
  )
}

export default MembersScreen
