import type { HidingFilter } from "@delivery/domain/planning/View"

/** What of a view its viewer cannot see, and still gets. */
const HiddenFilters = ({ names }: { readonly names: ReadonlyArray<HidingFilter> }) => (
  <p className="text-muted border-border border-b px-4 py-1.5" role="note">
    This view also filters by {new Intl.ListFormat("en").format(names)} that you cannot see. That stays, whatever you
    change here.
  </p>
)

export default HiddenFilters
