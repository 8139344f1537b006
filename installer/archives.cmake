# Read by cpack before each kind of package: archives carry their libraries, Debian packages name them.
if(CPACK_GENERATOR STREQUAL "TGZ")
  list(APPEND CPACK_COMPONENTS_ALL engine_libraries studio_libraries)
  set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
endif()
