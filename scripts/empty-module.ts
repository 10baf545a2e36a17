/** Stands in the bundle where an optional package is not wanted. */
export default {};
