/**
 * Takes the place of the package `is-in-ci` in the bundle. Ink asks it and then draws the last frame only, also on a real
 * terminal whose environment happens to have `CI` set; whether there is a screen is decided by the terminal alone.
 */
export default false;
