import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { tabClass, Tabs } from "../ui/Header.tsx"
import { useMarkedPlace } from "../ui/useMarkedPlace.ts"
import { useTabInView } from "../ui/useTabInView.ts"
import { viewsQuery } from "./queries.ts"
import { ViewTab } from "./ViewTab.tsx"

/** A project, and the views of it. */
const ProjectTabs = ({ project, slug }: { readonly slug: string; readonly project: string }) => {
  const { data } = useQuery(viewsQuery(slug, { project }))
  useMarkedPlace("/w/$slug/projects")
  useTabInView("Views of the project", data !== undefined)
  return (
    <Tabs label="Views of the project">
      <Link className={tabClass} params={{ slug, project }} to="/w/$slug/projects/$project">
        Overview
      </Link>
      {(data?.views ?? []).map((view) => (
        <ViewTab key={view.id} slug={slug} view={view} />
      ))}
    </Tabs>
  )
}

export default ProjectTabs
