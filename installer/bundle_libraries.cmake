# Copies every library that PROGRAM needs, the C library's own excepted, into FOLDER/libraries, and the plug-ins of Qt
# that are opened at run time into FOLDER/plugins, with what they need in turn. The archives carry them, so that they run
# on any Linux whose C library is not older; the Debian packages depend on the distribution's instead.
#
#   PROGRAM    a built program
#   PLUGINS    globs of plug-ins, such as imageformats/*
#   QT_PLUGINS where Qt has them
#   FOLDER     lib/espalier of the installed tree; the terms of each library go into FOLDER/licences

set(plugins)
foreach(pattern ${PLUGINS})
  file(GLOB found "${QT_PLUGINS}/${pattern}.so")
  foreach(plugin ${found})
    get_filename_component(kind ${plugin} DIRECTORY)
    get_filename_component(kind ${kind} NAME)
    file(INSTALL ${plugin} DESTINATION "${FOLDER}/plugins/${kind}" TYPE MODULE)
  endforeach()
  list(APPEND plugins ${found})
endforeach()
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES "${PROGRAM}" MODULES ${plugins}
  RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|mvec|nsl|anl)\\.so")
if(missing)
  message(FATAL_ERROR "${PROGRAM} needs libraries that are not on this machine: ${missing}. Install them, and pack again.")
endif()
foreach(library ${libraries})
  file(INSTALL "${library}" DESTINATION "${FOLDER}/libraries" TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN)
  # Packages name a file below / or below /usr, which are one where /lib is a link.
  execute_process(COMMAND dpkg-query --search "${library}" "/usr${library}" OUTPUT_VARIABLE owner ERROR_QUIET)
  string(REGEX REPLACE ":.*" "" owner "${owner}")
  if(owner AND EXISTS "/usr/share/doc/${owner}/copyright")
    file(INSTALL "/usr/share/doc/${owner}/copyright" DESTINATION "${FOLDER}/licences" RENAME "${owner}")
  else()
    message(WARNING "No package owns ${library}, so its terms are not in the archive. Add them before it is given away.")
  endif()
endforeach()
