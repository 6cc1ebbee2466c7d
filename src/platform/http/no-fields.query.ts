/** The query of a route that takes none: whatever stands there is refused, as a typo. */
export class NoFieldsQuery {}
