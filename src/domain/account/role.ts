/** The role of an account in a workspace. */
export type Role = 'owner' | 'editor' | 'viewer'

/** The roles that a workspace can be shared with. Its owner does not change. */
export type SharedRole = Exclude<Role, 'owner'>
