import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** Some projects with their milestones. */
export const wholeProjectsQuery = (slug: string, projects: ReadonlyArray<string>) =>
  queryOptions({
    queryKey: workspaceKey(slug, "projects", "whole", projects),
    queryFn: ({ signal }) =>
      Promise.all(projects.map((project) => client.projects.get({ params: { slug, project } }, { signal }))),
    enabled: projects.length > 0,
    placeholderData: keepPreviousData
  })
