/** What whoever makes an owner should know. */
export const NewOwner = () => (
  <>
    <p>
      An owner may do everything here: read and change all secrets, give and take every role, also that of other owners,
      and end their access.
    </p>
    <p>Only an owner can take the role away again.</p>
  </>
)
