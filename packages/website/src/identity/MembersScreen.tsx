import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import type { Member } from "@delivery/domain/identity/Member"
import type { Invite } from "@delivery/domain/identity/Invite"
import { useState } from "react"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { List } from "../ui/List.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"
import { Section } from "../ui/Section.tsx"
import { Since } from "../ui/Since.tsx"
import { toast } from "../ui/toast.ts"
import { invitesQuery, membersQuery } from "./queries.ts"

/** Who is in the workspace, with which role, and who is invited. */

const InviteDialog = later(() => import("./InviteDialog.tsx"))
const ChangeRole = later(() => import("./ChangeRole.tsx"))
const EndAccess = later(() => import("./EndAccess.tsx"))

const roles = ["viewer", "member", "admin", "owner"] as const

interface RowProps {
  readonly member: Member
  readonly slug: string
  readonly isSelf: boolean
  readonly mayManage: boolean
}

type Change = { readonly role: Member["role"]; readonly isUndo?: true } | { readonly active: true }

/** What an admin does with a member that has a way back. */
const useMemberActions = ({ member, slug }: Pick<RowProps, "member" | "slug">) => {
  const queries = useQueryClient()
  const params = { slug, member: member.id }
  const read = () => queries.invalidateQueries({ queryKey: workspaceKey(slug, "members") })
  const change = useMutation({
    mutationFn: async (next: Change): Promise<unknown> =>
      "role" in next
        ? client.members.update({
            params,
            // Nothing else than the role is to be as it was.
            payload: { role: next.role, ...(next.isUndo === true ? { accountApiKeys: "keep" } : {}) }
          })
        : client.members.reactivate({ params }),
    onSettled: read
  })
  const raise = (role: Member["role"]) => {
    const failed = `${member.name} stays ${member.role}`
    change.mutate(
      { role },
      {
        onError: (error) => tellFailure(failed, error),
        onSuccess: () => {
          toast({ title: failed, isMended: true })
          toast({
            title: `${member.name} is ${role} now`,
            undo: async () => {
              try {
                await change.mutateAsync({ role: member.role, isUndo: true })
                return `${member.name} is ${member.role} again`
              } catch (error) {
                tellFailure("That was not undone.", error)
                return undefined
              }
            }
          })
        }
      }
    )
  }
  const readmit = () =>
    change.mutate(
      { active: true },
      {
        onError: (error) => tellFailure(`${member.name} stays as they are`, error),
        onSuccess: () => toast({ title: `${member.name} has access again` })
      }
    )
  return { raise, readmit }
}

const RoleMenu = ({ member, slug }: Pick<RowProps, "member" | "slug">) => {
  const { raise, readmit } = useMemberActions({ member, slug })
  const [isEnding, setEnding] = useState(false)
  const [asked, setAsked] = useState<Member["role"]>()
  const choose = (role: Member["role"]) => {
    if (role === member.role) return
    if (role === "owner" || !mayAct(role, member.role)) setAsked(role)
    else raise(role)
  }
  return (
    <>
      <Menu
        groups={[
          {
            label: "Role",
            items: roles.map((role) => ({
              label: role,
              isChosen: role === member.role,
              onSelect: () => choose(role)
            }))
          },
          {
            items: [
              member.active
                ? {
                    label: "End access: their keys and agents stop",
                    isDangerous: true,
                    onSelect: () => setEnding(true)
                  }
                : { label: "Give access again", onSelect: readmit }
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
      {isEnding && <EndAccess member={member} onClose={() => setEnding(false)} slug={slug} />}
      {asked !== undefined && (
        <ChangeRole member={member} onClose={() => setAsked(undefined)} role={asked} slug={slug} />
      )}
    </>
  )
}

const MemberRow = ({ isSelf, mayManage, member, slug }: RowProps) => (
  <Item
    actions={
      mayManage && !isSelf ? (
        <RoleMenu member={member} slug={slug} />
      ) : (
        <span className="text-muted px-2.5">{member.role}</span>
      )
    }
    badges={
      <>
        {isSelf && <Badge>you</Badge>}
        {!member.active && <Badge>no access</Badge>}
      </>
    }
    detail={`${member.email}${member.emailVerifiedAt === null ? ", not verified" : ""}`}
    isFaded={!member.active}
    name={member.name}
  >
    <Cell>
      <Since at={member.joinedAt} never="" word="joined" />
    </Cell>
  </Item>
)

const InviteRow = ({ invite, slug }: { readonly invite: Invite; readonly slug: string }) => {
  const revoke = useAction({
    act: () => client.invites.revoke({ params: { slug, invite: invite.id } }),
    done: () => ({ title: `The invite of ${invite.email} is revoked` }),
    changes: [invitesQuery(slug).queryKey]
  })
  return (
    <Item
      actions={
        <Sure
          doing={revoke}
          subject={`the invite of ${invite.email}`}
          title={`Revoke the invite of ${invite.email}?`}
          verb="Revoke"
        >
          <p>Its link lets nobody in any more. You can invite them again.</p>
        </Sure>
      }
      detail={invite.role}
      name={invite.email}
    >
      <Cell>
        <Since at={invite.expiresAt} never="" word="ends" />
      </Cell>
    </Item>
  )
}

const Invites = ({ slug }: { readonly slug: string }) => {
  const { data } = useQuery(invitesQuery(slug))
  const pending = (data?.invites ?? []).filter((one) => one.status === "pending")
  if (pending.length === 0) return null
  return (
    <Section isFlush title="Pending invites">
      <ul aria-label="Pending invites">
        {pending.map((invite) => (
          <InviteRow invite={invite} key={invite.id} slug={slug} />
        ))}
      </ul>
    </Section>
  )
}

const MembersScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/settings/members" })
  const query = useQuery(membersQuery(slug))
  const me = useMe()
  const mayManage = mayAct(useRole(slug), "admin")
  const [isInviting, setInviting] = useState(false)
  useKeys(mayManage ? [{ keys: "c", label: "Invite somebody", group: "Members", run: () => setInviting(true) }] : [])
  return (
    <>
      <Header
        actions={
          mayManage && (
            <Button icon="plus" look="primary" onClick={() => setInviting(true)} shortcut="c">
              Invite
            </Button>
          )
        }
        crumbs={[]}
        title="Members"
      />
      <Loaded query={query} rows={5}>
        {({ members }) => (
          <List label="Members" noun="member">
            {members.map((member) => (
              <MemberRow
                isSelf={member.id === me?.id}
                key={member.id}
                mayManage={mayManage}
                member={member}
                slug={slug}
              />
            ))}
          </List>
        )}
      </Loaded>
      {mayManage && <Invites slug={slug} />}
      {isInviting && <InviteDialog onClose={() => setInviting(false)} slug={slug} />}
    </>
  )
}

export default MembersScreen
