/** As many as a scope may have variables: each is somebody's rule, and a longer list is read by nobody. */
export const REACTIONS_PER_CAMPAIGN_MAX = 100;

/** Of all campaigns of a workspace, also switched off: each is looked at for every event of the type. */
export const REACTIONS_PER_EVENT_TYPE_MAX = 50;
